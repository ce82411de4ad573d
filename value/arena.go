package value

import "github.com/deed-project/deed/internal/slab"

// Where the parts of a document lie in memory. Parsers and converters collect the members of a
// container on a stack while it is open, and copy them to the arena when it closes, sorted:
//
//	text     {"a":{"x":1,"y":2},"b":3}
//	stack    x y              when the inner object closes, x y go to the arena
//	         a b              when the outer one closes, a b do
//	members  x y a b          one array, what is innermost first

// arena cuts the members and items of new containers from arrays of many, so that one document
// costs a few allocations and lies close together. An array lives as long as anything cut from it:
// a part of a document keeps its neighbours alive.
type arena struct {
	members slab.Slab[Member]
	items   slab.Slab[Value]
	bytes   slab.Slab[byte]
}

// object copies members, which are sorted, into the arena.
func (a *arena) object(members []Member) Value {
	out := a.members.Take(len(members))
	copy(out, members)
	return fromMembers(out)
}

// list copies items into the arena.
func (a *arena) list(items []Value) Value {
	out := a.items.Take(len(items))
	copy(out, items)
	return fromItems(out)
}

// string copies s into the arena.
func (a *arena) string(s string) string {
	if len(s) == 0 {
		return ""
	}
	out := a.bytes.Take(len(s))
	copy(out, s)
	return textOf(out)
}
