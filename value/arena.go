package value

import (
	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
)

// Where the parts of a document lie in memory. Parsers and converters collect the members of an
// open container on a stack. When the container closes, they copy its members to the arena, sorted:
//
//	text     {"a":{"x":1,"y":2},"b":3}
//	stack    x y              the inner object closes: x y go to the arena
//	         a b              the outer object closes: a b go to the arena
//	members  x y a b          one array, innermost members first

// arena cuts the members and items of new containers from large arrays. One document then costs a
// few allocations, and its parts lie close together. An array lives as long as anything cut from
// it: a part of a document keeps its neighbours alive.
//
// A container that holds parts of an earlier document gets memory of its own. In an array, its
// neighbours would keep it alive, and with it the earlier document. The next document may share
// those neighbours, so a chain of old documents would stay in memory.
type arena struct {
	members slab.Slab[Member]
	items   slab.Slab[Value]
	bytes   slab.Slab[byte]
}

// object copies members, which are sorted, into the arena, or into their own memory if own is set.
func (a *arena) object(members []Member, own bool) Value {
	if own {
		return fromMembers(append([]Member(nil), members...))
	}
	out := a.members.Take(len(members))
	copy(out, members)
	return fromMembers(out)
}

// list copies items into the arena, or into their own memory if own is set.
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
