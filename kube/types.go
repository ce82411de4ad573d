package kube

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Conversion of structured-merge-diff's types to deed's. A schema is compiled once, for all field managers that use it.

// compiled maps the weak pointer of a schema to a function that returns its types by name.
var compiled sync.Map

// typesOf returns the types of s by name. A defect of a schema shows when a value meets it, as in Kubernetes.
func typesOf(s *smdschema.Schema) map[string]*schema.Type {
	key := weak.Make(s)
	if known, ok := compiled.Load(key); ok {
		return known.(func() map[string]*schema.Type)()
	}
	var doc schema.Document
	for _, def := range s.Types {
		doc.Types = append(doc.Types, schema.TypeDef{Name: def.Name, Atom: atomOf(def.Atom)})
	}
	compile := sync.OnceValue(func() map[string]*schema.Type {
		types, _ := schema.Compile(&doc)
		return types
	})
	if _, loaded := compiled.LoadOrStore(key, compile); !loaded {
		runtime.AddCleanup(s, func(key weak.Pointer[smdschema.Schema]) { compiled.Delete(key) }, key)
	}
	return compile()
}

// typeOf returns the type that converter gives the objects of a kind. The error is the converter's.
func typeOf(converter TypeConverter, gvk gvkschema.GroupVersionKind) (*schema.Type, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	v, err := converter.ObjectToTyped(object)
	if err != nil {
		return nil, err
	}
	ref := v.TypeRef()
	if ref.NamedType == nil {
		types, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{{Name: gvk.Kind, Atom: atomOf(ref.Inlined)}}})
		return types[gvk.Kind], err
	}
	t, ok := typesOf(v.Schema())[*ref.NamedType]
	if !ok {
		return nil, fmt.Errorf("the schema has no type %q", *ref.NamedType)
	}
	return t, nil
}

// atomOf returns a as deed's type.
func atomOf(a smdschema.Atom) schema.Atom {
	var out schema.Atom
	if a.Scalar != nil {
		out.Scalar, out.Word = scalarOf(*a.Scalar)
	}
	if l := a.List; l != nil {
		out.List = &schema.ListDef{ElementType: refOf(l.ElementType), Relationship: schema.Relationship(l.ElementRelationship), Keys: l.Keys}
	}
	if m := a.Map; m != nil {
		out.Map = &schema.MapDef{ElementType: refOf(m.ElementType), Relationship: schema.Relationship(m.ElementRelationship)}
		for _, f := range m.Fields {
			out.Map.Fields = append(out.Map.Fields, schema.FieldDef{Name: f.Name, Type: refOf(f.Type), Default: defaultOf(f.Default)})
		}
	}
	return out
}

func scalarOf(s smdschema.Scalar) (schema.Scalar, string) {
	switch s {
	case smdschema.Numeric:
		return schema.Numeric, ""
	case smdschema.String:
		return schema.String, ""
	case smdschema.Boolean:
		return schema.Boolean, ""
	case smdschema.Untyped:
		return schema.Untyped, ""
	}
	return schema.UnknownScalar, string(s)
}

func refOf(r smdschema.TypeRef) schema.TypeRef {
	out := schema.TypeRef{Inlined: atomOf(r.Inlined), Nullable: r.Nullable}
	if r.NamedType != nil {
		out.NamedType = *r.NamedType
	}
	if r.ElementRelationship != nil {
		out.Relationship = schema.Relationship(*r.ElementRelationship)
	}
	return out
}

// defaultOf returns the default value of a field, given as YAML or JSON decoders hold it. It is absent if v is no JSON value.
func defaultOf(v any) value.Value {
	if v == nil {
		return value.Value{}
	}
	out, err := value.FromAny(plain(v))
	if err != nil {
		return value.Value{}
	}
	return out
}

// plain returns v with the maps of YAML decoders converted to maps of strings.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[fmt.Sprint(name)] = plain(member)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = plain(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	}
	return v
}
