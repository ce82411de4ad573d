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

// Extracting what a manager applied, out of the object as it is now. The applier ann owns
// .spec.ports[port=80,protocol="TCP"].name, and the type gives protocol the default TCP:
//
//	object      {spec: {ports: [{name: web, port: 80, protocol: TCP}], replicas: 3}}
//	extracted   {spec: {ports: [{name: web, port: 80}]}}    and what identifies the object
//
// port comes along, for without it nobody could tell which item is meant; protocol does not, for an
// item that lacks it has the default.

// Extract returns what manager applied to o, a t, through a subresource: the configuration that it
// would apply again to change nothing. It is absent when o has no such entry.
//
//  1. Of several entries of the applier, the first one counts. Its apiVersion is ignored: the paths
//     are looked up in o as they are, and those that o lacks are left out.
//  2. The leaves of its set are extracted, see [typed.Value.Extract], with the values that o has
//     now.
//  3. Items of keyed lists come with their keys, owned or not, as far as they need them to be
//     found: a key that has its default is left out unless it is owned. (The reference leaves out
//     all keys that are not owned.)
//  4. apiVersion, kind, metadata.name and metadata.namespace are those of o, as far as it has them,
//     and all that there is if the applier owns nothing of o. (The reference fails then.)
//
// The error is typed.Errors, wrapped, when o does not conform to t or holds a list item twice, or
// an [*managedfields.EntryError] when the set cannot be read.
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

// extractFields returns the part of v that fields lead to, items with the keys that they need.
func extractFields(v typed.Value, fields fieldpath.Set) value.Value {
	leaves := fields.Leaves()
	var keys fieldpath.Builder
	addNeededKeys(&keys, leaves, v.Type())
	return v.Extract(leaves.Union(keys.Set())).Content()
}

// addNeededKeys adds to b, for each item of a keyed list that s leads to, the keys without which it
// could not be found: all but those that have their default. An item without anything else needs
// all, for else it would be extracted as a whole.
func addNeededKeys(b *fieldpath.Builder, s fieldpath.Set, t *schema.Type) {
	for e := range s.Entries() {
		below := typeBelow(t, e.Element)
		if below == nil {
			continue
		}
		paths.Enter(b, e.Element)
		if e.Element.Kind() == fieldpath.KindKey {
			for _, key := range e.Element.Fields() {
				// An item of which nothing else is extracted needs all of its keys, for it would be
				// whole otherwise.
				if e.Sub.IsEmpty() || !isDefault(t.List(), key) {
					paths.Leaf(b, fieldpath.Field(key.Name))
				}
			}
		}
		addNeededKeys(b, e.Sub, below)
		paths.Leave(b, false)
	}
}

// isDefault reports whether key is what an item of l has that lacks it.
func isDefault(l *schema.List, key fieldpath.KeyField) bool {
	return slices.ContainsFunc(l.Keys(), func(k schema.Key) bool {
		return k.Name == key.Name && !k.Default.IsAbsent() && k.Default.Equal(key.Value)
	})
}

// typeBelow returns the type of what e leads to in a value of type t, and nil when t has no such
// place: t is nil or not of the kind, or does not declare the member. Items can be named in
// granular lists only, members in every object.
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

// withIdentity returns config with what says which object it is of.
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

// setPresent returns object with the member, unless that is absent.
func setPresent(object value.Value, name string, member value.Value) value.Value {
	if member.IsAbsent() {
		return object
	}
	return object.With(name, member)
}
