// Package structural_test compares schema/structural with the structural schemas of k8s.io/apiextensions-apiserver.
package structural_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	reference "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// compiled returns the reference's schema with pruned defaults, as kube-apiserver uses it for a served version.
func compiled(t *testing.T, schema value.Value) steps {
	t.Helper()
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(schema.AppendJSON(nil), &v1); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := reference.NewStructural(&internal)
	if err != nil {
		t.Fatalf("%v\n%v", err, schema)
	}
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		t.Fatalf("%v\n%v", err, schema)
	}
	return steps{s}
}

// answer is the outcome of one step: an object with messages, or an error.
type answer struct {
	object value.Value
	said   []string
	err    string
}

func (a answer) String() string { return fmt.Sprintf("%v\nsaid %q\nerror %q", a.object, a.said, a.err) }

func (a answer) equal(b answer) bool {
	return a.err == b.err && (a.err != "" || identical(a.object, b.object) && slices.Equal(a.said, b.said))
}

// identical reports whether v and w are equal and have the same kinds of numbers.
func identical(v, w value.Value) bool { return reflect.DeepEqual(v.ToAny(), w.ToAny()) }

func answered(object map[string]any, said []string, err error) answer {
	if err != nil {
		return answer{err: err.Error()}
	}
	v, failure := value.FromAny(object)
	if failure != nil {
		return answer{err: failure.Error()}
	}
	return answer{object: v, said: said}
}

// steps are the reference's steps. Each needs its own object.
type steps struct{ *reference.Structural }

func (s steps) decode(object map[string]any) answer { return s.read(object, false) }
func (s steps) load(object map[string]any) answer   { return s.read(object, true) }

func (s steps) prune(object map[string]any) answer {
	tracked := reference.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown := pruning.PruneWithOptions(object, s.Structural, true, tracked)
	return answered(object, unknown, nil)
}

func (s steps) dropNulls(object map[string]any) answer {
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.Structural)
	return answered(object, nil, nil)
}

func (s steps) fillDefaults(object map[string]any) answer {
	defaulting.Default(object, s.Structural)
	return answered(object, nil, nil)
}

func (s steps) duplicates(object map[string]any) answer {
	var said []string
	for _, err := range listtype.ValidateListSetsAndMaps(nil, s.Structural, object) {
		said = append(said, err.Error())
	}
	slices.Sort(said)
	return answer{said: said}
}

func (s steps) coerce(object map[string]any) answer {
	strict := objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true}
	err, unknown := objectmeta.CoerceWithOptions(nil, object, s.Structural, false, strict)
	if err != nil {
		return answered(nil, nil, err)
	}
	return answered(object, unknown, nil)
}

// read does what the decoder of custom resources does, whose code is not exported.
func (s steps) read(object map[string]any, stored bool) answer {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, _, err := unstructured.NestedString(object, name); err != nil {
			return answered(nil, nil, err)
		}
	}
	kind, version := object["kind"], object["apiVersion"]
	meta, found, said, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: stored, ReturnUnknownFieldPaths: !stored,
	})
	if err != nil {
		return answered(nil, nil, err)
	}
	tracked := reference.UnknownFieldPathOptions{TrackUnknownFieldPaths: !stored}
	said = append(said, pruning.PruneWithOptions(object, s.Structural, true, tracked)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.Structural)
	failure, unknown := objectmeta.CoerceWithOptions(nil, object, s.Structural, false, objectmeta.CoerceOptions{
		DropInvalidFields: stored, ReturnUnknownFieldPaths: !stored,
	})
	if failure != nil {
		return answered(nil, nil, failure)
	}
	said = append(said, unknown...)
	if stored && found && meta.Generation == 0 {
		meta.Generation = 1
	}
	if kind != nil {
		object["kind"] = kind
	}
	if version != nil {
		object["apiVersion"] = version
	}
	if found {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return answered(nil, nil, err)
		}
	}
	return answered(object, said, nil)
}
