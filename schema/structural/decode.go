package structural

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

// Decode converts an object from a request to the form in which an API server processes it. It also
// returns the paths of the unknown fields that it removed, in the order of strict decoding.
//
//  1. apiVersion and kind must be strings if they are present.
//  2. Metadata becomes canonical, see [Metadata].
//  3. The rest is pruned, then nulls are dropped, then embedded resources are coerced, see
//     [Schema.Prune], [Schema.DropNulls] and [Schema.Coerce].
//
// Decode does not fill in defaults: [Schema.Default] does. The error is the first one in this
// order. A second Decode changes nothing and returns object itself.
//
// Cost: linear in the size of object.
func (s *Schema) Decode(object value.Value) (value.Value, []string, error) {
	return s.decode(object, value.Value{})
}

// decode is Decode for an object that shares parts with known, see [internal]. It visits all
// embedded resources, shared or not, because a stored one may have malformed fields.
func (s *Schema) decode(object, known value.Value) (value.Value, []string, error) {
	if err := checkTypeMeta(object); err != nil {
		return value.Value{}, nil, err
	}
	d := metaDecoder{strict: true, at: trail{{name: "metadata"}}}
	metadata := object.Get("metadata")
	if !metadata.IsAbsent() {
		metadata = d.metadata(metadata)
	}
	if d.err != nil {
		return value.Value{}, nil, d.err
	}
	out, pruned := s.tidy(object, known)
	out, coerced, err := new(coercer).root(out, value.Value{}, s)
	if err != nil {
		return value.Value{}, nil, err
	}
	unknown := slices.Concat(d.unknown.inOrder(), pruned, coerced)
	return withRootFields(out, object, metadata), unknown, nil
}

// Load is Decode for objects that were stored earlier, perhaps with an earlier schema. It removes
// malformed fields of metadata, also in embedded resources. A missing generation becomes 1.
func (s *Schema) Load(object value.Value) (value.Value, error) { return s.load(object, value.Value{}) }

// load is Load for an object that shares parts with known, see [internal].
func (s *Schema) load(object, known value.Value) (value.Value, error) {
	if err := checkTypeMeta(object); err != nil {
		return value.Value{}, err
	}
	metadata := object.Get("metadata")
	if !metadata.IsAbsent() {
		var err error
		if metadata, err = storedMetadata(metadata); err != nil {
			return value.Value{}, err
		}
	}
	out, _ := s.tidy(object, known)
	out, _, err := (&coercer{lenient: true}).root(out, known, s)
	if err != nil {
		return value.Value{}, err
	}
	return withRootFields(out, object, metadata), nil
}

// withRootFields returns out with the apiVersion and kind of object, and with metadata.
func withRootFields(out, object, metadata value.Value) value.Value {
	for _, name := range []string{"apiVersion", "kind"} {
		out = withMember(out, name, object.Get(name))
	}
	return withMember(out, "metadata", metadata)
}

func checkTypeMeta(object value.Value) error {
	for _, name := range []string{"kind", "apiVersion"} {
		if v := object.Get(name); !v.IsAbsent() && v.Kind() != value.KindString {
			return fmt.Errorf(".%s accessor error: %v is of the type %[2]T, expected string", name, v.ToAny())
		}
	}
	return nil
}
