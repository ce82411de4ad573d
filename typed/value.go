package typed

import (
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Value is a value of a type, which it conforms to. It is immutable. The zero Value is absent and
// has no type. A Value without a type has no fields, and can be neither merged nor compared.
type Value struct {
	content value.Value
	typ     *schema.Type

	// filled: it was merged from a configuration that has an empty object or null somewhere where
	// the live object has members or items, which it kept.
	filled bool

	// tidy: every list inside that is not atomic has items that are identified and distinct, so
	// that walks may pair items without indexing whole lists first.
	tidy bool
}

// Option changes what [New] accepts.
type Option uint8

// AllowDuplicates accepts sets and keyed lists that hold an item twice, as stored objects may. Such
// items are owned, compared and replaced as one.
const AllowDuplicates Option = 1

// Content returns the value without its type.
func (v Value) Content() value.Value { return v.content }

// Type returns the type that v conforms to.
func (v Value) Type() *schema.Type { return v.typ }

// same reports in constant time whether v and w are the same piece of storage with the same type.
func (v Value) same(w Value) bool { return v.typ == w.typ && v.content.Same(w.content) }

// empty returns the null value of type t.
func empty(t *schema.Type) Value { return Value{content: value.Null(), typ: t, tidy: true} }

// parts is the set of a type's parts that may deal with a value.
type parts uint8

const (
	scalarPart parts = 1 << iota
	listPart
	mapPart
)

// partsFor returns the parts of t that may deal with v: the one that admits v's kind, or else, for
// null, for an absent value and for a kind that t does not admit, all that t has.
func partsFor(t *schema.Type, v value.Value) parts {
	switch v.Kind() {
	case value.KindObject:
		if t.Map() != nil {
			return mapPart
		}
	case value.KindList:
		if t.List() != nil {
			return listPart
		}
	case value.KindString, value.KindInt, value.KindFloat, value.KindBool:
		if t.Scalar() != schema.None {
			return scalarPart
		}
	}
	var all parts
	if t.Map() != nil {
		all |= mapPart
	}
	if t.Scalar() != schema.None {
		all |= scalarPart
	}
	if t.List() != nil {
		all |= listPart
	}
	return all
}

// first returns the part of p that deals with the value: the map part before the scalar part before
// the list part.
func (p parts) first() parts {
	switch {
	case p&mapPart != 0:
		return mapPart
	case p&scalarPart != 0:
		return scalarPart
	}
	return p
}

// isNone reports whether v holds nothing that a walk of containers of kind k could descend into: it
// is absent, null, empty or of another kind.
func isNone(v value.Value, k value.Kind) bool { return v.Kind() != k || v.Len() == 0 }

// sameScalar reports whether v and w are equal, and scalars of one kind: then they do not differ,
// whatever their type is, so that it need not be looked up.
func sameScalar(v, w value.Value) bool {
	switch kind := v.Kind(); kind {
	case value.KindObject, value.KindList:
		return false
	default:
		return kind == w.Kind() && v.Equal(w)
	}
}
