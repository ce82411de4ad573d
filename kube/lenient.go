package kube

import (
	"errors"
	"fmt"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Field managers for objects of a newer server. A compiled-in schema lacks the fields that a later release added:
//
//	schema   spec: {size: integer}
//	object   spec: {size: 1, color: {name: blue}}      color merges member by member, also if the kind's Go type drops it

// Lenient returns the field manager of [Registry.Endpoint], but accepts every field. A field that the schema lacks merges like a value
// without a schema: see [schema.Deduced]. Such a field is owned, pruned and in conflict like all others. The conversions of a built-in
// kind leave it unchanged. If no source has a schema of a kind, all its fields merge in this way. A built-in kind in a version that
// servers no longer serve has the schema and form of that version.
func (r *Registry) Lenient(gvk gvkschema.GroupVersionKind, subresource string) (Endpoint, error) {
	return r.endpoint(endpointKey{gvk, subresource, true}, r.lenient)
}

// lenient returns the configuration for Lenient.
func (r *Registry) lenient(gvk gvkschema.GroupVersionKind, subresource string) (managedfields.Config, error) {
	strict, err := r.config(gvk, subresource)
	var unserved *builtin.UnservedError
	if k, known := builtin.Lookup(schema.GVK(gvk)); errors.As(err, &unserved) && known {
		return withdrawn(k)
	}
	if errors.As(err, &unserved) {
		return untyped(gvk, subresource), nil
	}
	if err != nil {
		return strict, err
	}
	if strict.Types[gvk.GroupVersion().String()] == nil {
		return untyped(gvk, subresource), nil
	}
	c := strict
	c.Types = map[string]*schema.Type{}
	for apiVersion, t := range strict.Types {
		if c.Types[apiVersion], err = opened(t); err != nil {
			return c, fmt.Errorf("%v: %w", gvk, err)
		}
	}
	x := extras{strict.Types[gvk.GroupVersion().String()]}
	if strict.Hold != nil {
		c.Hold = func(v value.Value) (value.Value, error) { return x.around(v, strict.Hold) }
	}
	if strict.Store != nil {
		c.Store = func(change managedfields.Change) (value.Value, error) {
			return x.around(change.Object, func(object value.Value) (value.Value, error) {
				change.Live, change.Sent, change.Held, change.Object = x.without(change.Live), x.without(change.Sent), x.without(change.Held), object
				return strict.Store(change)
			})
		}
	}
	if strict.Converter != nil {
		c.Converter = extrasConverter{strict}
	}
	return c, nil
}

// untyped returns the configuration of a kind without a schema.
func untyped(gvk gvkschema.GroupVersionKind, subresource string) managedfields.Config {
	types := map[string]*schema.Type{gvk.GroupVersion().String(): schema.Deduced}
	return managedfields.Config{GVK: schema.GVK(gvk), Subresource: subresource, Types: types}
}

// withdrawn returns a configuration with the schema and form of a built-in kind in a version that servers no longer serve.
func withdrawn(k *builtin.Kind) (managedfields.Config, error) {
	t, _ := builtin.Type(k.GVK)
	if t == nil {
		return untyped(gvkschema.GroupVersionKind(k.GVK), ""), nil
	}
	open, err := opened(t)
	if err != nil {
		return managedfields.Config{}, fmt.Errorf("%v: %w", k.GVK, err)
	}
	x := extras{t}
	c := managedfields.Config{GVK: k.GVK, Types: map[string]*schema.Type{k.GVK.APIVersion(): open}}
	c.Empty, _ = builtin.Empty(k.GVK)
	c.Hold = func(v value.Value) (value.Value, error) { return x.around(v, k.Held) }
	return c, nil
}

// opened returns t with objects that admit undeclared members.
func opened(t *schema.Type) (*schema.Type, error) {
	o := opener{names: map[*schema.Type]string{}, doc: &schema.Document{}}
	root := o.ref(t)
	types, _ := schema.Compile(o.doc) // defects are those of t, and show when a value meets them
	if opened := types[root.NamedType]; opened != nil {
		return opened, nil
	}
	return nil, errors.New("the schema has no type for the kind")
}

// opener writes a graph of types as a schema document.
type opener struct {
	names map[*schema.Type]string
	doc   *schema.Document
}

// ref returns a reference to t. The first call defines t.
func (o *opener) ref(t *schema.Type) schema.TypeRef {
	if t == nil {
		return schema.TypeRef{}
	}
	name, known := o.names[t]
	if known {
		return schema.TypeRef{NamedType: name}
	}
	name = fmt.Sprintf("%d", len(o.names))
	o.names[t] = name
	atom := schema.Atom{Scalar: t.Scalar()}
	if l := t.List(); l != nil {
		atom.List = o.list(l)
	}
	if m := t.Map(); m != nil {
		def := &schema.MapDef{ElementType: o.ref(m.Element()), Relationship: schema.Separable}
		if m.Atomic() {
			def.Relationship = schema.Atomic
		}
		if m.Element() == nil {
			def.ElementType = o.ref(schema.Deduced)
		}
		for _, f := range m.Fields() {
			def.Fields = append(def.Fields, schema.FieldDef{Name: f.Name, Type: o.ref(f.Type), Default: f.Default})
		}
		atom.Map = def
	}
	o.doc.Types = append(o.doc.Types, schema.TypeDef{Name: name, Atom: atom})
	return schema.TypeRef{NamedType: name}
}

// list returns the definition of a list like l.
func (o *opener) list(l *schema.List) *schema.ListDef {
	def := &schema.ListDef{ElementType: o.ref(l.Element())}
	switch l.Topology() {
	case schema.AtomicList:
		def.Relationship = schema.Atomic
	case schema.SetList, schema.KeyedList:
		def.Relationship = schema.Associative
	}
	for _, key := range l.Keys() {
		def.Keys = append(def.Keys, key.Name)
	}
	return def
}

// extras carries members that t does not declare past functions that drop or refuse them.
type extras struct{ t *schema.Type }

// around calls change with v without its extras, and returns the result with these extras.
func (x extras) around(v value.Value, change func(value.Value) (value.Value, error)) (value.Value, error) {
	known := x.without(v)
	out, err := change(known)
	if err != nil || known.Same(v) {
		return out, err
	}
	return graft(x.t, v, out), nil
}

// without returns v without its extras. It returns v itself if v has none.
func (x extras) without(v value.Value) value.Value { return pruned(x.t, v) }

// pruned returns v, a value of type t, without the members that t does not declare.
func pruned(t *schema.Type, v value.Value) value.Value {
	switch {
	case t == nil || t == schema.Deduced:
		return v
	case v.Kind() == value.KindObject && t.Map() != nil:
		out := v
		for name, member := range v.Members() {
			inner, _ := t.Map().Lookup(name)
			if inner == nil {
				out = out.With(name, value.Value{})
			} else if kept := pruned(inner, member); !kept.Same(member) {
				out = out.With(name, kept)
			}
		}
		return out
	case v.Kind() == value.KindList && t.List() != nil:
		var items []value.Value
		same := true
		for item := range v.Items() {
			kept := pruned(t.List().Element(), item)
			items, same = append(items, kept), same && kept.Same(item)
		}
		if !same {
			return value.List(items...)
		}
	}
	return v
}

// graft returns onto with the members of from that t does not declare. Both values have type t. Objects that onto dropped because they
// had no other members come back. Items of lists are paired by their places; a list whose length changed gets no extras.
func graft(t *schema.Type, from, onto value.Value) value.Value {
	switch {
	case t == nil || t == schema.Deduced || pruned(t, from).Same(from):
		return onto
	case from.Kind() == value.KindObject && t.Map() != nil && (onto.Kind() == value.KindObject || onto.IsAbsent()):
		for name, member := range from.Members() {
			inner, _ := t.Map().Lookup(name)
			if inner == nil {
				onto = onto.With(name, member)
			} else if grafted := graft(inner, member, onto.Get(name)); !grafted.IsAbsent() {
				onto = onto.With(name, grafted)
			}
		}
	case from.Kind() == value.KindList && t.List() != nil && onto.Len() == from.Len():
		var items []value.Value
		for i := range from.Len() {
			items = append(items, graft(t.List().Element(), from.Item(i), onto.Item(i)))
		}
		return value.List(items...)
	}
	return onto
}

// extrasConverter converts between versions, and leaves extras unchanged.
type extrasConverter struct{ managedfields.Config }

// Convert implements [managedfields.Converter].
func (c extrasConverter) Convert(object value.Value, apiVersion string) (value.Value, error) {
	return c.around(object, apiVersion, c.Converter.Convert)
}

// ConvertApplied is Convert for the outcome of an apply: see [managedfields.Config].
func (c extrasConverter) ConvertApplied(object value.Value, apiVersion string) (value.Value, error) {
	type applyConverter interface {
		ConvertApplied(object value.Value, apiVersion string) (value.Value, error)
	}
	if converter, ok := c.Converter.(applyConverter); ok {
		return c.around(object, apiVersion, converter.ConvertApplied)
	}
	return c.Convert(object, apiVersion)
}

// around converts object by convert, and leaves extras unchanged.
func (c extrasConverter) around(
	object value.Value, apiVersion string, convert func(value.Value, string) (value.Value, error),
) (value.Value, error) {
	x := extras{c.Types[object.Get("apiVersion").Str()]}
	return x.around(object, func(known value.Value) (value.Value, error) { return convert(known, apiVersion) })
}
