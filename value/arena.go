package value

import (
	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
)

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
//
// A container that holds parts of an earlier document gets memory of its own. In an array, it would
// keep alive the earlier document as long as its neighbours live, which the next document may share,
// that one's predecessor, and so on.
type arena struct {
	members slab.Slab[Member]
	items   slab.Slab[Value]
	bytes   slab.Slab[byte]
}

// object copies members, which are sorted, into the arena, or to memory of their own.
func (a *arena) object(members []Member, own bool) Value {
	if own {
		return fromMembers(append([]Member(nil), members...))
	}
	out := a.members.Take(len(members))
	copy(out, members)
	return fromMembers(out)
}

// list copies items into the arena, or to memory of their own.
func (a *arena) list(items []Value, own bool) Value {
	if own {
		return fromItems(append([]Value(nil), items...))
	}
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
	return jsontext.Lend(out)
}
