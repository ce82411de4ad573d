package ownership

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Extract finds the configuration that a manager applied, in the object as it is now. For example,
// the applier ann owns .spec.ports[port=80,protocol="TCP"].name, and protocol has the default TCP:
//
//	object      {spec: {ports: [{name: web, port: 80, protocol: TCP}], replicas: 3}}
//	extracted   {spec: {ports: [{name: web, port: 80}]}}    and the identity of the object
//
// The result has port, because it identifies the item. It does not have protocol, because an item
// without protocol has the default.

// Extract returns the configuration that manager applied to o, a value of type t, through a
// subresource. To apply it again would change nothing. The result is absent if o has no such entry.
//
//  1. Of several entries of the applier, the first one counts. Its apiVersion is ignored: if its
//     version differs in more than its name, o must be converted to it before. The paths are looked
//     up in o as they are, and paths that o lacks are left out.
//  2. The leaves of its set are extracted with the values that o has now, see
//     [typed.Value.Extract].
//  3. Items of keyed lists come with the keys that identify them, owned or not. A key that has its
//     default is left out, unless it is owned or the item has nothing else. (The reference leaves
//     out all keys that are not owned.)
//  4. apiVersion, kind, metadata.name and metadata.namespace are those of o, if o has them. If the
//     applier owns nothing of o, the result has only these. (The reference fails then.)
//
// The error wraps typed.Errors if o does not conform to t or holds a list item twice. It is an
// [*managedfields.EntryError] if the set cannot be read.
func Extract(o managedfields.Object, t *schema.Type, manager, subresource string) (value.Value, error) {
	live, err := typed.New(o.Content, t)
	if err != nil {
		return value.Value{}, fmt.Errorf("error converting obj to typed: %w", err)
	}
	i := slices.IndexFunc(o.Entries, func(e managedfields.Entry) bool {
		return e.Manager == manager && e.Operation == merge.Apply && e.Subresource == subresource
	})
	if i < 0 {
		return value.Value{}, nil
	}
	fields, err := o.Entries[i].FieldsV1.Set()
	if err != nil {
		return value.Value{}, &managedfields.EntryError{Index: i, Manager: manager, Err: fmt.Errorf("error decoding set: %w", err)}
	}
	return withIdentity(extractFields(live, fields), o.Content), nil
}

// extractFields returns the part of v at fields. Items come with the keys that they need.
func extractFields(v typed.Value, fields fieldpath.Set) value.Value {
	leaves := fields.Leaves()
	var keys fieldpath.Builder
	addNeededKeys(&keys, leaves, v.Type())
	return v.Extract(leaves.Union(keys.Set())).Content()
}

// addNeededKeys adds to b the keys that identify the items of keyed lists in s: all keys except
// those that have their default.
func addNeededKeys(b *fieldpath.Builder, s fieldpath.Set, t *schema.Type) {
	for e := range s.Entries() {
		below := typeBelow(t, e.Element)
		if below == nil {
			continue
		}
		paths.Enter(b, e.Element)
		if e.Element.Kind() == fieldpath.KindKey {
			for _, key := range e.Element.Fields() {
				// An item without other fields needs all of its keys, because it would be extracted
				// as a whole otherwise.
				if e.Sub.IsEmpty() || !isDefault(t.List(), key) {
					paths.Leaf(b, fieldpath.Field(key.Name))
				}
			}
		}
		addNeededKeys(b, e.Sub, below)
		paths.Leave(b, false)
	}
}

// isDefault reports whether key has the default of l for that key.
func isDefault(l *schema.List, key fieldpath.KeyField) bool {
	return slices.ContainsFunc(l.Keys(), func(k schema.Key) bool {
		return k.Name == key.Name && !k.Default.IsAbsent() && k.Default.Equal(key.Value)
	})
}

// typeBelow returns the type at e in a value of type t. It returns nil if t is nil, is not of the
// kind that e selects from, or does not declare the member. Items have a type in granular lists
// only, and members in every object.
func typeBelow(t *schema.Type, e fieldpath.Element) *schema.Type {
	switch {
	case t == nil:
	case e.Kind() == fieldpath.KindField:
		if m := t.Map(); m != nil {
			below, _ := m.Lookup(e.Name())
			return below
		}
	case t.List() == nil:
	case e.Kind() == fieldpath.KindKey && t.List().Topology() == schema.KeyedList,
		e.Kind() == fieldpath.KindItem && t.List().Topology() == schema.SetList:
		return t.List().Element()
	}
	return nil
}

// withIdentity returns config with the apiVersion, kind, name and namespace of object.
func withIdentity(config, object value.Value) value.Value {
	for _, name := range []string{"apiVersion", "kind"} {
		config = setPresent(config, name, object.Get(name))
	}
	metadata := config.Get("metadata")
	for _, name := range []string{"name", "namespace"} {
		metadata = setPresent(metadata, name, object.Get("metadata", name))
	}
	return setPresent(config, "metadata", metadata)
}

// setPresent returns object with the member, unless the member is absent.
func setPresent(object value.Value, name string, member value.Value) value.Value {
	if member.IsAbsent() {
		return object
	}
	return object.With(name, member)
}
