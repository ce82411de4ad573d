package keywords

import "github.com/deed-project/deed/value"

// Ratcheting: an update is not refused for errors that the object had before. The library decides by pairing parts of the old and the new
// object:
//
//	old  {list: [{name: a, x: 1}, {name: b, x: 2}]}       keys: name
//	new  {list: [{name: b, x: 2}, {name: a, x: 3}]}       b is unchanged, although it moved; a's x is not
//
// Items of lists without keys have no counterpart, so the errors in a list that changed count for all items.

// former is the value that a part of an update replaces. It pairs old and new parts by the rules of the library. The errors of an unchanged
// part do not count. A nil former means that the part is new.
//
// A former caches its parts and the outcome of its comparison. All questions about an object together therefore cost one walk of the
// object.
type former struct {
	was   value.Value
	node  *node
	named map[string]*former
	keyed map[string]value.Value // items of a list by their keys
	asked value.Value            // what same is about; items with equal keys ask in turn
	known bool                   // whether same is valid
	same  bool
}

// is reports whether v equals the old value. As in the library, 1 differs from 1.0, the order of items with keys does not matter, and a
// member that no schema describes counts as changed.
func (f *former) is(v value.Value) bool {
	if f == nil {
		return false
	}
	if !f.known || !f.asked.Same(v) {
		f.asked, f.known, f.same = v, true, f.compare(v)
	}
	return f.same
}

// compare compares the parts by pairs, as the library does.
func (f *former) compare(v value.Value) bool {
	if f.was.Kind() != v.Kind() || f.was.Len() != v.Len() {
		return false
	}
	switch {
	case v.Kind() == value.KindObject:
		for name, member := range v.Members() {
			if !f.member(name).is(member) {
				return false
			}
		}
		return true
	// The lengths are equal, so it is enough that each new item has an equal old one with its keys.
	case v.Kind() == value.KindList && f.node != nil && len(f.node.keys) > 0:
		for item := range v.Items() {
			if !f.item(item).is(item) {
				return false
			}
		}
		return true
	}
	return equal(f.was, v)
}

// equal reports whether a and b are the same document with the same kinds of numbers.
//
// value.Equal would say that 1 and 1.0 are equal.
func equal(a, b value.Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case value.KindList:
		for i := range a.Len() {
			if !equal(a.Item(i), b.Item(i)) {
				return false
			}
		}
		return true
	case value.KindObject:
		for i := range a.Len() {
			if m, o := a.Member(i), b.Member(i); m.Name != o.Name || !equal(m.Value, o.Value) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// member returns the former of a member.
//
// It is nil for a member that is new or that no schema describes.
func (f *former) member(name string) *former {
	if f == nil || f.node == nil || f.was.Kind() != value.KindObject {
		return nil
	}
	if part, ok := f.named[name]; ok {
		return part
	}
	var part *former
	child, was := f.node.child(name), f.was.Get(name)
	if child != nil && !was.IsAbsent() {
		part = &former{was: was, node: child}
	}
	if f.named == nil {
		f.named = map[string]*former{}
	}
	f.named[name] = part
	return part
}

// item returns the former of an item: the first old item with the same keys. Items of lists without keys have none.
//
// An item without all keys has no counterpart.
func (f *former) item(v value.Value) *former {
	if f == nil || f.node == nil || len(f.node.keys) == 0 || f.node.items == nil || f.was.Kind() != value.KindList {
		return nil
	}
	key, ok := f.node.keyOf(v)
	if !ok {
		return nil
	}
	if part, ok := f.named[key]; ok {
		return part
	}
	if f.keyed == nil {
		f.index()
	}
	var part *former
	if was, ok := f.keyed[key]; ok {
		part = &former{was: was, node: f.node.items}
	}
	f.named[key] = part
	return part
}

// index fills f.keyed.
//
// Of several items with the same keys it keeps the first one.
func (f *former) index() {
	f.keyed, f.named = make(map[string]value.Value, f.was.Len()), map[string]*former{}
	for item := range f.was.Items() {
		key, ok := f.node.keyOf(item)
		if _, twice := f.keyed[key]; ok && !twice {
			f.keyed[key] = item
		}
	}
}

// keyOf returns the keys of an item as one text, and whether the item has all of them.
func (n *node) keyOf(item value.Value) (string, bool) {
	if item.Kind() != value.KindObject {
		return "", false
	}
	var b []byte
	for _, name := range n.keys {
		v := item.Get(name)
		switch v.Kind() {
		case value.KindBool, value.KindInt, value.KindFloat, value.KindString:
			// The kind tells 1 from 1.0, which have the same text.
			b = v.AppendJSON(append(b, byte(v.Kind())))
		default:
			return "", false
		}
	}
	return string(b), true
}
