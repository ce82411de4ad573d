package typed

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// The identity of items in sets and keyed lists. An item of a set is its own identity. The identity
// of an item of a keyed list is its keys, each with the item's value or else the default. A key
// with neither is not part of the identity: the item differs from every item that has this key.

// keyValue returns the value of key k in item: the item's own value, or else the default, or else
// absent.
func keyValue(item value.Value, k *schema.Key) value.Value {
	if v := item.Get(k.Name); !v.IsAbsent() {
		return v
	}
	return k.Default
}

// sameItem reports whether a and b have the same identity in l. Both must have an identity.
func sameItem(l *schema.List, a, b value.Value) bool {
	if l.Topology() == schema.SetList {
		return a.Equal(b)
	}
	keys := l.Keys()
	for i := range keys {
		if !keyValue(a, &keys[i]).Equal(keyValue(b, &keys[i])) {
			return false
		}
	}
	return true
}

// defect returns the reason why item has no identity in l, in the words of Kubernetes, or "" if
// item has an identity.
func defect(l *schema.List, item value.Value) string {
	switch l.Topology() {
	case schema.KeyedList:
		return keyedDefect(l, item)
	case schema.IncompleteList:
		return "invalid indexing of non-associative list"
	}
	switch item.Kind() {
	case value.KindObject:
		return "associative list without keys has an element that's a map type"
	case value.KindList:
		return "not supported: associative list with lists as elements"
	case value.KindNull:
		return "associative list without keys has an element that's an explicit null"
	}
	return ""
}

// keyedDefect is defect for a keyed list. Its items must be objects with at least one key, or with
// all keys where the list requires them. A default counts as a key.
func keyedDefect(l *schema.List, item value.Value) string {
	switch item.Kind() {
	case value.KindNull:
		return "associative list with keys may not have a null element"
	case value.KindObject:
	default:
		return "associative list with keys may not have non-map elements"
	}
	keys := l.Keys()
	found := false
	for i := range keys {
		switch own := item.Get(keys[i].Name); {
		case !own.IsAbsent(), !keys[i].Default.IsAbsent():
			found = true
		case l.Element().Map() == nil:
			return fmt.Sprintf("couldn't find default value for %s: associative list may not have non-map types", keys[i].Name)
		case schemas.RequiresKeys(l):
			return fmt.Sprintf("associative list with keys has an element that omits key field %q (and doesn't have default value)", keys[i].Name)
		}
	}
	if !found {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = fmt.Sprintf("%q", k.Name)
		}
		return fmt.Sprintf("associative list with keys has an element that omits all key fields [%s] (and doesn't have default values for any key fields)",
			strings.Join(names, " "))
	}
	return ""
}

// identityOf returns the path element of item in l. All items without identity have the zero
// Element.
func identityOf(m *slab.Text, l *schema.List, item value.Value) fieldpath.Element {
	if defect(l, item) != "" {
		return fieldpath.Element{}
	}
	return elementOf(m, l, item)
}

// elementOf returns the path element of item in l. The item must have an identity.
func elementOf(m *slab.Text, l *schema.List, item value.Value) fieldpath.Element {
	if l.Topology() == schema.SetList {
		return paths.Item(m, item)
	}
	var room [4]fieldpath.KeyField
	fields := room[:0]
	keys := l.Keys()
	for i := range keys {
		if v := keyValue(item, &keys[i]); !v.IsAbsent() {
			fields = append(fields, fieldpath.KeyField{Name: keys[i].Name, Value: v})
		}
	}
	return paths.Key(m, fields)
}

// index finds the items of one list by their identity. Its zero value is ready for reset. Short
// lists are scanned. In longer lists, the hash of an identity selects its slot, or the next free
// slot if another identity has that one. In this example, a hashes to 2, and b and c to 5:
//
//	items  a b a c
//	add    0 1 0 3              for each item, the first item with the same identity
//	slots  . . 1 . . 2 4 .      numbers of first items + 1; the third item is a duplicate
//
// Invariants, if there are slots:
//
//	slots[k]-1 is the first item with its identity, and no other slot has that identity
//	len(slots) >= 2*len(items), a power of two: every search finds a free slot
type index struct {
	list  *schema.List
	items []value.Value
	slots []int32 // hash table with open addressing: item number + 1, and 0 for a free slot
	used  int
	pairs int // compared pairs of items since the walk began
}

// fewItems is the largest length of a list that is scanned. A scan of such a list is cheaper than
// hashing.
const fewItems = 8

// reset makes x an empty index of items, the items of a list that l describes.
func (x *index) reset(l *schema.List, items []value.Value) {
	x.list, x.items, x.used = l, items, 0
	if n := len(items); n > fewItems {
		size := 2 * fewItems
		for size < 2*n {
			size *= 2
		}
		if cap(x.slots) < size {
			x.slots = make([]int32, size)
		}
		x.slots = x.slots[:size]
		clear(x.slots)
	}
}

// add puts the next item, number x.used, into x. It returns the number of the first item with the
// same identity, which is the item's own number unless the item is a duplicate.
func (x *index) add() int {
	i := x.used
	x.used++
	if len(x.items) <= fewItems {
		for j := range i {
			x.pairs++
			if sameItem(x.list, x.items[j], x.items[i]) {
				return j
			}
		}
		return i
	}
	slot := x.slot(x.items[i])
	if x.slots[slot] != 0 {
		return int(x.slots[slot]) - 1
	}
	x.slots[slot] = int32(i + 1)
	return i
}

// find returns the number of the first item of x with the identity of item, or -1.
func (x *index) find(item value.Value) int {
	if len(x.items) > fewItems {
		return int(x.slots[x.slot(item)]) - 1
	}
	for i := range x.used {
		x.pairs++
		if sameItem(x.list, x.items[i], item) {
			return i
		}
	}
	return -1
}

// slot returns the slot that holds the identity of item, or else the free slot where it belongs.
func (x *index) slot(item value.Value) int {
	mask := len(x.slots) - 1
	for slot := int(hashItem(x.list, item)) & mask; ; slot = (slot + 1) & mask {
		i := x.slots[slot]
		if i == 0 {
			return slot
		}
		if x.pairs++; sameItem(x.list, x.items[i-1], item) {
			return slot
		}
	}
}

// seed makes hashes differ from process to process. No result depends on them.
var seed = maphash.MakeSeed()

// hashItem returns a hash of the identity of item in l. Items that sameItem calls the same have
// equal hashes.
func hashItem(l *schema.List, item value.Value) uint64 {
	if l.Topology() == schema.SetList {
		return hash(item)
	}
	keys := l.Keys()
	var h uint64
	for i := range keys {
		h = h*0x9e3779b97f4a7c15 + hash(keyValue(item, &keys[i]))
	}
	return h
}

// mix returns a hash of the sequence h, next. The seed is part of the hash, so a client cannot
// craft lists with colliding hashes.
func mix(h, next uint64) uint64 { return maphash.Comparable(seed, [2]uint64{h, next}) }

// hash returns equal hashes for equal values, such as 1 and 1.0. Cost: linear in v.
func hash(v value.Value) uint64 {
	switch v.Kind() {
	case value.KindString:
		return maphash.String(seed, v.Str())
	case value.KindInt:
		return maphash.Comparable(seed, v.Int())
	case value.KindFloat:
		f := v.Float()
		if f == math.Trunc(f) && -1<<63 <= f && f < 1<<63 {
			return maphash.Comparable(seed, int64(f))
		}
		return maphash.Comparable(seed, f)
	case value.KindBool:
		return maphash.Comparable(seed, v.Bool())
	case value.KindList:
		h := uint64(value.KindList)
		for _, item := range values.Items(v) {
			h = mix(h, hash(item))
		}
		return h
	case value.KindObject:
		h := uint64(value.KindObject)
		for _, member := range values.Members(v) {
			h = mix(mix(h, maphash.String(seed, member.Name)), hash(member.Value))
		}
		return h
	}
	return uint64(v.Kind())
}
