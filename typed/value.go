package typed

import (
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Value is a value that conforms to its type. It is immutable. The zero Value is absent and has no
// type. A Value without a type has no fields, and can be neither merged nor compared.
type Value struct {
	content value.Value
	typ     *schema.Type

	// filled: the configuration had null or an empty object where the live object has members or
	// items, and the merge kept these.
	filled bool

	// tidy: in every list that is not atomic, each item has an identity of its own. Walks may then
	// pair items without indexing whole lists first.
	tidy bool
}

// Option changes what [New] accepts.
type Option uint8

// AllowDuplicates accepts sets and keyed lists with duplicate items, which stored objects may hold.
// The duplicates of an item are owned, compared and replaced together.
const AllowDuplicates Option = 1

// Content returns the value without its type.
func (v Value) Content() value.Value { return v.content }

// Type returns the type that v conforms to.
func (v Value) Type() *schema.Type { return v.typ }

// same reports in constant time whether v and w are the same piece of storage with the same type.
func (v Value) same(w Value) bool { return v.typ == w.typ && v.content.Same(w.content) }

// empty returns the null value of type t.
func empty(t *schema.Type) Value { return Value{content: value.Null(), typ: t, tidy: true} }

// parts is a set of the parts of a type: scalar, list and map.
type parts uint8

const (
	scalarPart parts = 1 << iota
	listPart
	mapPart
)

// partsFor returns the parts of t that may handle v: the part that admits the kind of v, or else
// all parts of t. Null, absent values, and kinds that t does not admit get all parts.
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

// first returns the part of p that handles the value. The map part comes before the scalar part,
// and the scalar part before the list part.
func (p parts) first() parts {
	switch {
	case p&mapPart != 0:
		return mapPart
	case p&scalarPart != 0:
		return scalarPart
	}
	return p
}

// isNone reports whether v has no members or items as a container of kind k: it is absent, null,
// empty or of another kind.
func isNone(v value.Value, k value.Kind) bool { return v.Kind() != k || v.Len() == 0 }

// sameScalar reports whether v and w are equal, of one kind, and neither objects nor lists. Such
// values are equal under every type, so their type need not be looked up.
func sameScalar(v, w value.Value) bool {
	switch kind := v.Kind(); kind {
	case value.KindObject, value.KindList:
		return false
	default:
		return kind == w.Kind() && v.Equal(w)
	}
}
