package rules

import "github.com/deed-project/deed/value"

// former is what was where a value is now, as the library tells which parts of a live object an update replaces. What is wrong with a part
// that is as it was does not count. A nil former is that nothing was there.
//
// It remembers its parts, and whether it changed, so that all that is asked about an object costs what the object costs.
type former struct {
	was   value.Value
	node  *node
	named map[string]*former
	keyed map[string]value.Value // the items of a list by their keys
	known bool                   // whether same is known
	same  bool
}

// is reports whether v is what was there. The library tells 1 from 1.0, does not care for the order of items that have keys, and takes what
// no schema mentions for another thing.
func (f *former) is(v value.Value) bool {
	if f == nil {
		return false
	}
	if !f.known {
		f.known, f.same = true, f.compare(v)
	}
	return f.same
}

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

// equal reports whether a and b are the same document, of the same kinds of numbers.
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

// member returns what a member was.
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

// item returns what an item was: the first with its keys. Items of lists without keys were nothing.
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

// index finds the items of a list by their keys.
func (f *former) index() {
	f.keyed, f.named = make(map[string]value.Value, f.was.Len()), map[string]*former{}
	for item := range f.was.Items() {
		key, ok := f.node.keyOf(item)
		if _, twice := f.keyed[key]; ok && !twice {
			f.keyed[key] = item
		}
	}
}

// keyOf returns the keys of an item as one text, and whether it has them all.
func (n *node) keyOf(item value.Value) (string, bool) {
	if item.Kind() != value.KindObject {
		return "", false
	}
	var b []byte
	for _, name := range n.keys {
		v := item.Get(name)
		switch v.Kind() {
		case value.KindBool, value.KindInt, value.KindFloat, value.KindString:
			b = v.AppendJSON(append(b, byte(v.Kind())))
		default:
			return "", false
		}
	}
	return string(b), true
}
