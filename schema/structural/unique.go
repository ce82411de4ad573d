package structural

import (
	"math"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
)

// Which items are there twice. In a set, and in a map with the key name:
//
//	["a",1,"a",1.0,"a"]                      [2] is "a" again; 1.0 is no 1, and [4] is not reported
//	[{"name":"a"},{},{"name":"a"},null]      [2] has the key of [0]; [3] lacks it as [1] does

// Duplicates returns where lists that are sets or maps hold an item again, and items of maps that
// are no objects. The paths are in the order of the object's members.
//
//  1. In a set, items are the same if they are equal; an integer is not equal to a float, except
//     inside of lists and objects.
//  2. In a map, items are the same if they have the same keys. Items that lack the key are the
//     same, and so is null.
//  3. The second of equal items is reported, but not the third.
//  4. Of items of a map that are neither objects nor null only the first is reported, and no
//     duplicates beside it.
//  5. Behind a megabyte of paths the last error, of reason [More], tells how many there are beyond.
//
// The cost grows with the size of the parts of object below which there are such lists.
func (s *Schema) Duplicates(object value.Value) []*FieldError {
	return s.duplicates(object, value.Value{})
}

// duplicates is Duplicates for an object that shares parts with known, which has none.
func (s *Schema) duplicates(object, known value.Value) []*FieldError {
	var u uniqueness
	u.members(object, known, s.rootNode())
	if u.more > 0 {
		u.errs = append(u.errs, &FieldError{Reason: More, Others: u.more})
	}
	return u.errs
}

// uniqueness is the state of Duplicates.
type uniqueness struct {
	at     trail // where the walk is
	errs   []*FieldError
	length int // of the paths in errs
	more   int // errors beyond maxReported
}

// value looks at v, whose schema is n.
func (u *uniqueness) value(v, known value.Value, n *node) {
	if n == nil || !n.below.unique || v.Same(known) {
		return
	}
	switch v.Kind() {
	case value.KindObject:
		u.members(v, known, n)
	case value.KindList:
		u.list(v, n)
		for i := range v.Len() {
			u.at.enterItem(i)
			u.value(v.Item(i), beside.Item(known, i), n.items)
			u.at.leave()
		}
	}
}

// members looks at the members of the object v.
func (u *uniqueness) members(v, known value.Value, n *node) {
	if !n.below.unique {
		return
	}
	others := beside.Of(known)
	for i := range v.Len() {
		m := v.Member(i)
		other := others.Get(m.Name)
		if child, declared := n.properties[m.Name]; declared {
			u.at.enterMember(m.Name)
			u.value(m.Value, other, child)
		} else {
			u.at.enterKey(m.Name)
			u.value(m.Value, other, n.additionalNode())
		}
		u.at.leave()
	}
}

// list checks the items of one list.
func (u *uniqueness) list(v value.Value, n *node) {
	switch n.listType {
	case "set":
		u.distinct(v, func(item value.Value) value.Value { return item }, identityOf)
	case "map":
		for i := range v.Len() {
			if k := v.Item(i).Kind(); k != value.KindObject && k != value.KindNull {
				u.report(i, FieldError{
					Reason: Invalid, Value: v.Item(i), Detail: "must be an object for an array of list-type map",
				})
				return
			}
		}
		u.distinct(v, n.keysOf, n.keyIdentity)
	}
}

// distinct reports the second of items with the same identity, by what shown returns for it.
func (u *uniqueness) distinct(v value.Value, shown func(value.Value) value.Value, identify func(value.Value) identity) {
	if v.Len() <= 1 {
		return
	}
	if v.Len() <= fewItems {
		u.distinctFew(v, shown, identify)
		return
	}
	times := make(map[identity]int, v.Len())
	for i := range v.Len() {
		item := v.Item(i)
		id := identify(item)
		if times[id]++; times[id] == 2 {
			u.report(i, FieldError{Reason: Duplicate, Value: shown(item)})
		}
	}
}

// fewItems is up to how many items are compared one by one, which is quicker than to put them into a map.
const fewItems = 8

// distinctFew is distinct for few items.
func (u *uniqueness) distinctFew(v value.Value, shown func(value.Value) value.Value, identify func(value.Value) identity) {
	var ids [fewItems]identity
	for i := range v.Len() {
		item, times := v.Item(i), 1
		ids[i] = identify(item)
		for _, before := range ids[:i] {
			if before == ids[i] {
				times++
			}
		}
		if times == 2 {
			u.report(i, FieldError{Reason: Duplicate, Value: shown(item)})
		}
	}
}

// report says what is wrong with item i of where u is.
func (u *uniqueness) report(i int, err FieldError) {
	if u.length > maxReported {
		u.more++
		return
	}
	u.at.enterItem(i)
	err.Path = u.at.String()
	u.at.leave()
	u.length += len(err.Path)
	u.errs = append(u.errs, &err)
}

// identity tells items apart. The zero identity is that of an item without its key.
type identity struct {
	kind value.Kind
	bits uint64 // of a number or boolean
	text string // of a string, or the JSON text of a list or object
}

// identityOf returns what v has in common with the items that are the same. Canonical JSON text makes
// no difference between 1 and 1.0, which rule 1 of Duplicates is about.
func identityOf(v value.Value) identity {
	id := identity{kind: v.Kind()}
	switch id.kind {
	case value.KindBool:
		if v.Bool() {
			id.bits = 1
		}
	case value.KindInt:
		id.bits = uint64(v.Int())
	case value.KindFloat:
		if f := v.Float(); f != 0 { // -0 is 0
			id.bits = math.Float64bits(f)
		}
	case value.KindString:
		id.text = v.Str()
	case value.KindList, value.KindObject:
		id.text = string(v.AppendJSON(nil))
	}
	return id
}

// keyIdentity returns the identity of an item of a map.
func (n *node) keyIdentity(item value.Value) identity {
	if len(n.listKeys) == 1 {
		return identityOf(item.Get(n.listKeys[0]))
	}
	return identityOf(n.keysOf(item))
}

// keysOf returns the object of the keys that item has.
func (n *node) keysOf(item value.Value) value.Value {
	members := make([]value.Member, 0, len(n.listKeys))
	for _, key := range n.listKeys {
		if v := item.Get(key); !v.IsAbsent() {
			members = append(members, value.Member{Name: key, Value: v})
		}
	}
	return value.Object(members...)
}
