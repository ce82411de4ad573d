package structural

import (
	"math"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
)

// Duplicate items. In a set, and in a map with the key name:
//
//	["a",1,"a",1.0,"a"]                      [2] repeats [0]; 1.0 is not 1; [4] is not reported
//	[{"name":"a"},{},{"name":"a"},null]      [2] has the key of [0]; [3] lacks a key, like [1]

// Duplicates returns the duplicate items of sets and maps, and the items of maps that are not
// objects. The errors are in the order of the object's members.
//
//  1. Items of a set are duplicates if they are equal. An integer does not equal a float, except
//     inside of lists and objects.
//  2. Items of a map are duplicates if their keys are equal. All items without the key are equal,
//     and null counts as such an item.
//  3. Only the second of equal items is reported, not the third.
//  4. In a map, only the first item that is neither an object nor null is reported. Duplicates of
//     the same list are not reported then.
//  5. After a megabyte of paths, the last error has the reason [More] and the number of further
//     errors.
//
// Cost: linear in the size of the parts of object that may contain such lists.
func (s *Schema) Duplicates(object value.Value) []*FieldError {
	return s.duplicates(object, value.Value{})
}

// duplicates is Duplicates for an object that shares parts with known. known has no duplicates.
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
	at     trail // the position of the walk
	errs   []*FieldError
	length int // the total length of the paths in errs
	more   int // the number of errors beyond maxReported
}

// value checks v, whose schema is n.
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

// members checks the members of the object v.
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

// distinct reports the second of the items with the same identity. The error shows the result of
// shown.
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

// fewItems is the maximum number of items to compare one by one, which is faster than a map.
const fewItems = 8

// distinctFew is distinct for at most fewItems items.
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

// report adds an error about item i of the current list.
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

// identity is equal for items that count as the same. The zero identity is that of an item without
// its key.
type identity struct {
	kind value.Kind
	bits uint64 // the bits of a number or boolean
	text string // the text of a string, or the JSON text of a list or object
}

// identityOf returns the identity of v. It uses canonical JSON text for lists and objects, which
// does not distinguish 1 from 1.0: see rule 1 of Duplicates.
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
