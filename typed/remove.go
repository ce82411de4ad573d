package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Removing fields from a value. Of a keyed list of ports:
//
//	v        {spec: {replicas: 3, ports: [{port: 80, name: web}, {port: 443}]}}
//	s        .spec.ports[port=80] .spec.replicas
//	result   {spec: {ports: [{port: 443}]}}
//
//	and if s has .spec.ports[port=443] too
//	result   {spec: {ports: null}}         X2: what has nothing left becomes null
//
// Cost: linear in s and in the objects and lists that it leads into, with a factor log n for items.

// Remove returns v without the paths of s and all that is below them:
//
//	X1  A member or item whose path is in s goes with all that is below it.
//	X2  An object or list that has nothing left becomes null, and stays.
//	X3  So does every container with paths of s below it that has no such parts: an empty or
//	    atomic one, null, and a value of another kind than its type's.
//
// Items without identity, as those of a list whose relationship the schema leaves open, have one
// path together, that of the zero [fieldpath.Element]: they go or stay together. The root counts as
// having paths below it. The result is not validated again: an item of a keyed list may have lost
// its keys, or have become null. A value without a type stays as it is.
func (v Value) Remove(s fieldpath.Set) Value { return v.remove(s, false) }

// remove is Remove. If keepEmptied is set, an object or list below the root does not become null by
// X2 and X3, but empty.
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
	tidy        bool // the result is
	keepEmptied bool // see remove
	nodes       int  // members, items, and entries of sets that were visited
}

// part returns v, a t below the root, without what s has below it.
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

// node returns v, a t, without what s has below it. s has something, but for the root.
func (r *remover) node(t *schema.Type, v value.Value, s fieldpath.Set) value.Value {
	switch partsFor(t, v).first() {
	// X3: what has no such parts becomes null.
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

// object returns an object that is not empty without the members of s. Members and entries are in
// the same order; both are passed once, and what stays is copied from the first change on.
func (r *remover) object(m *schema.Map, v value.Value, s fieldpath.Set) value.Value {
	var out []value.Member
	members := values.Members(v)
	kept := 0 // members of v that are decided: out holds what is left of them
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

// objectOrNull returns the object of members, and null if there are none: rules X2 and X4.
func objectOrNull(members []value.Member) value.Value {
	if len(members) == 0 {
		return value.Null()
	}
	return values.Sorted(members)
}

// listOrNull returns the list of items, and null if there are none: rules X2 and X4.
func listOrNull(items []value.Value) value.Value {
	if len(items) == 0 {
		return value.Null()
	}
	return value.List(items...)
}

// list returns a list that is not empty without the items of s, in its own order.
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
		// X1: the item goes.
		case e.Member:
			continue
		// A part of the item goes. What is left may have lost what told it apart.
		case !e.Sub.IsEmpty():
			left := r.part(l.Element(), item, e.Sub)
			r.tidy = r.tidy && keepsIdentity(l, item, left)
			item = left
		}
		out = append(out, item)
	}
	return listOrNull(out)
}

// keepsIdentity reports whether part, which is left of item, has the identity that item has in l.
func keepsIdentity(l *schema.List, item, part value.Value) bool {
	return defect(l, part) == "" && sameItem(l, item, part)
}

// lost returns which of fields left has not: they are the namedFields of a value, and left is that
// value without s.
//
// These are the fields in s and below it, so that nothing needs to look at left, but in two cases. An
// item that loses its identity loses all of its fields. And an object or list that has no fields left
// may still hold what is none, such as an empty list. What holds nothing at all is null, which is a
// field, or stays empty.
func lost(fields, s fieldpath.Set, left Value) fieldpath.Set {
	out, emptied := paths.Within(fields, s)
	if emptied || !left.tidy {
		return fields.Minus(left.namedFields())
	}
	return out
}
