package openapi

import (
	"fmt"
	"math"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Names of the types that the converters know.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

const (
	groupVersionKind = "x-kubernetes-group-version-kind"
	listMapKeys      = "x-kubernetes-list-map-keys"
	listType         = "x-kubernetes-list-type"
	mapType          = "x-kubernetes-map-type"
	patchMergeKey    = "x-kubernetes-patch-merge-key"
	patchStrategy    = "x-kubernetes-patch-strategy"
	preserveUnknown  = "x-kubernetes-preserve-unknown-fields"
)

var (
	untypedAtomic = schema.TypeRef{NamedType: schema.UntypedAtomicName}
	deduced       = schema.TypeRef{NamedType: schema.DeducedName}
)

// primitive returns the scalar of a primitive type. A string of most formats admits every scalar, because the type behind the
// format may also be written as a number.
func primitive(typ, format string) schema.Scalar {
	switch {
	case typ == "integer", typ == "number":
		return schema.Numeric
	case typ == "boolean":
		return schema.Boolean
	case typ == "string" && (format == "" || format == "byte"):
		return schema.String
	}
	return schema.Untyped
}

// listRelationship returns the relationship and keys of a list. The first extension that is present decides:
//
//   - the list type: atomic, set, or map with the map keys;
//   - the patch strategy: merge is associative, by the merge key if there is one; retainKeys is atomic.
//
// A list without both is atomic.
func (p *problems) listRelationship(ext map[string]any, at place) (schema.Relationship, []string) {
	word, ok := ext[listType]
	if !ok {
		return p.patchRelationship(ext, at)
	}
	switch word {
	case "atomic":
		return schema.Atomic, nil
	case "set":
		return schema.Associative, nil
	case "map":
		return schema.Associative, p.mapKeys(ext, at)
	}
	p.report(at, "unknown list type %v", word)
	return schema.Atomic, nil
}

func (p *problems) mapKeys(ext map[string]any, at place) []string {
	keys, ok := ext[listMapKeys]
	if !ok {
		p.report(at, "missing map keys")
		return nil
	}
	list, ok := keys.([]any)
	if !ok {
		p.report(at, "uninterpreted map keys: %#v", keys)
	}
	var names []string
	for _, key := range list {
		if name, ok := key.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

func (p *problems) patchRelationship(ext map[string]any, at place) (schema.Relationship, []string) {
	strategy, ok := ext[patchStrategy]
	switch {
	case !ok, strategy == "retainKeys":
		return schema.Atomic, nil
	case strategy != "merge" && strategy != "merge,retainKeys":
		p.report(at, "unknown patch strategy %v", strategy)
		return schema.Atomic, nil
	}
	key, ok := ext[patchMergeKey]
	if !ok {
		return schema.Associative, nil
	}
	name, ok := key.(string)
	if !ok {
		p.report(at, "uninterpreted merge key: %#v", key)
	}
	return schema.Associative, []string{name}
}

// mapRelationship returns the relationship of a map by its extensions, or "" without a map type.
func (p *problems) mapRelationship(ext map[string]any, at place) schema.Relationship {
	switch word, ok := ext[mapType]; {
	case !ok:
	case word == "atomic":
		return schema.Atomic
	case word == "granular":
		return schema.Separable
	default:
		p.report(at, "unknown map type %v", word)
	}
	return ""
}

// kinds returns the kinds of a definition by its extensions. It skips entries without group, version and kind.
func kinds(ext map[string]any) []schema.GVK {
	list, _ := ext[groupVersionKind].([]any)
	var out []schema.GVK
	for _, entry := range list {
		group, okGroup := lookup(entry, "group").(string)
		version, okVersion := lookup(entry, "version").(string)
		kind, okKind := lookup(entry, "kind").(string)
		if okGroup && okVersion && okKind && kind != "" {
			out = append(out, schema.GVK{Group: group, Version: version, Kind: kind})
		}
	}
	return out
}

// lookup returns a member of an object, or nil. The object comes from a JSON or YAML decoder.
func lookup(object any, name string) any {
	switch object := object.(type) {
	case map[string]any:
		return object[name]
	case map[any]any:
		return object[name]
	}
	return nil
}

// defaultValue converts the default of a field from a decoder's value. It returns the absent value for nil.
func (p *problems) defaultValue(v any, at place) value.Value {
	if v == nil {
		return value.Value{}
	}
	v, err := stringNames(v)
	if err != nil {
		p.report(at, "uninterpreted default: %v", err)
		return value.Value{}
	}
	out, err := value.FromAny(v)
	if err != nil {
		p.report(at, "uninterpreted default: %v", err)
	}
	return out
}

// stringNames returns v with objects as map[string]any. Whole floats below 2^53 become integers, because JSON decoders make
// all numbers floats. A uint64 becomes a float.
func stringNames(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	case uint64:
		return float64(v), nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = stringNames(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			var err error
			if out[name], err = stringNames(member); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[any]any:
		return stringNamesOfYAML(v)
	}
	return v, nil
}

func stringNamesOfYAML(object map[any]any) (any, error) {
	out := make(map[string]any, len(object))
	for name, member := range object {
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("an object has the member name %v, which is no string", name)
		}
		out[text] = member
	}
	return stringNames(out)
}
