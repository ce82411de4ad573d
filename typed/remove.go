package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Removal of fields from a value. In this example, ports is a keyed list:
//
//	v        {spec: {replicas: 3, ports: [{port: 80, name: web}, {port: 443}]}}
//	s        .spec.ports[port=80] .spec.replicas
//	result   {spec: {ports: [{port: 443}]}}
//
//	and if s has .spec.ports[port=443] too
//	result   {spec: {ports: null}}         X2: an emptied list becomes null
//
// Cost: linear in s and in the objects and lists that s leads into, with a factor log n for items.

// Remove returns v without the paths of s and without everything below them:
//
//	X1  A member or item whose path is in the set is removed with everything below it.
//	X2  An object or list that loses all its parts becomes null, but is not removed.
//	X3  If the set has paths below a container without granular parts, the container becomes
//	    null, too. Such a container is empty, atomic, null, or a value of another kind than its
//	    type's.
//
// The items without identity of one list share one path, with the zero [fieldpath.Element]. They
// are removed together or stay together. Items of a list whose relationship the schema leaves open
// have no identity. The root counts as having paths of s below it, even if s is empty. The result
// is not validated again: an item of a keyed list may have lost its keys, or have become null. A
// value without a type stays as it is.
func (v Value) Remove(s fieldpath.Set) Value { return v.remove(s, false) }

// remove is Remove. If keepEmptied is set, X2 and X3 make an object or list below the root empty,
// not null.
func (v Value) remove(s fieldpath.Set, keepEmptied bool) Value {
	if v.typ == nil {
		return v
	}
	r := remover{tidy: v.tidy, keepEmptied: keepEmptied}
	content := r.node(v.typ, v.content, s)
	work.Add(work.Counts{Nodes: r.nodes})
	return Value{content: content, typ: v.typ, tidy: r.tidy}
}

// remover is the state of Remove.
type remover struct {
	tidy        bool // whether the result is tidy
	keepEmptied bool // see remove
	nodes       int  // visited members, items, and entries of sets
}

// part returns v, a value of type t below the root, without the paths of s.
func (r *remover) part(t *schema.Type, v value.Value, s fieldpath.Set) value.Value {
	left := r.node(t, v, s)
	if r.keepEmptied && left.IsNull() {
		switch v.Kind() {
		case value.KindObject:
			return value.Object()
		case value.KindList:
			return value.List()
		}
	}
	return left
}

// node returns v, a value of type t, without the paths of s. s is not empty, except at the root.
func (r *remover) node(t *schema.Type, v value.Value, s fieldpath.Set) value.Value {
	switch partsFor(t, v).first() {
	// X3: a container without granular parts becomes null.
	case mapPart:
		if isNone(v, value.KindObject) || t.Map().Atomic() {
			return value.Null()
		}
		return r.object(t.Map(), v, s)
	case listPart:
		if isNone(v, value.KindList) || t.List().Topology() == schema.AtomicList {
			return value.Null()
		}
		return r.list(t.List(), v, s)
	case scalarPart:
		return v
	}
	return value.Null()
}

// object returns v, an object with members, without the paths of s. Members and entries have the
// same order, so both are passed once. Members are copied only if one changes.
func (r *remover) object(m *schema.Map, v value.Value, s fieldpath.Set) value.Value {
	var out []value.Member
	members := values.Members(v)
	kept := 0 // number of decided members of v: out holds the remaining ones
	i := 0
	for e := range s.Entries() {
		r.nodes++
		if e.Element.Kind() != fieldpath.KindField {
			break
		}
		for i < len(members) && members[i].Name < e.Element.Name() {
			i++
		}
		if i == len(members) || members[i].Name != e.Element.Name() {
			continue
		}
		if out == nil {
			out = make([]value.Member, 0, len(members))
		}
		out = append(out, members[kept:i]...)
		kept = i + 1
		if !e.Member {
			t, _ := m.Lookup(members[i].Name)
			out = append(out, value.Member{Name: members[i].Name, Value: r.part(t, members[i].Value, e.Sub)})
		}
	}
	if out == nil {
		return v
	}
	return objectOrNull(append(out, members[kept:]...))
}

// objectOrNull returns the object of members, or null if there are none: rules X2 and X4.
func objectOrNull(members []value.Member) value.Value {
	if len(members) == 0 {
		return value.Null()
	}
	return values.Sorted(members)
}

// listOrNull returns the list of items, or null if there are none: rules X2 and X4.
func listOrNull(items []value.Value) value.Value {
	if len(items) == 0 {
		return value.Null()
	}
	return value.List(items...)
}

// list returns v, a list with items, without the paths of s. The items keep their order.
func (r *remover) list(l *schema.List, v value.Value, s fieldpath.Set) value.Value {
	gone := selectionOf(s)
	r.nodes += len(gone.entries) + v.Len()
	if len(gone.entries) == 0 {
		return v
	}
	var texts slab.Text
	out := make([]value.Value, 0, v.Len())
	for item := range v.Items() {
		switch e := gone.at(identityOf(&texts, l, item)); {
		// X1: the item is removed.
		case e.Member:
			continue
		// A part of the item is removed. The rest may have lost the item's identity.
		case !e.Sub.IsEmpty():
			left := r.part(l.Element(), item, e.Sub)
			r.tidy = r.tidy && keepsIdentity(l, item, left)
			item = left
		}
		out = append(out, item)
	}
	return listOrNull(out)
}

// keepsIdentity reports whether part, the rest of item, has the identity that item has in l.
func keepsIdentity(l *schema.List, item, part value.Value) bool {
	return defect(l, part) == "" && sameItem(l, item, part)
}

// lost returns the paths of fields that left lacks. fields must be the namedFields of a value, and
// left that value without s.
//
// Mostly these are the fields in s and below s, so left need not be walked. There are two
// exceptions. An item that loses its identity loses all of its fields. An object or list without
// remaining fields may still hold parts that are not fields, such as an empty list. If it holds no
// parts at all, it is null, which is a field, or stays empty.
func lost(fields, s fieldpath.Set, left Value) fieldpath.Set {
	out, emptied := paths.Within(fields, s)
	if emptied || !left.tidy {
		return fields.Minus(left.namedFields())
	}
	return out
}
