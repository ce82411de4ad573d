package value

import "slices"

// share returns v with the equal parts of former in place of its own, members by name and items by
// index. It returns former itself if both are equal. Unlike a [Decoder], it also takes strings of
// former, because callers keep v and former together, as versions of one object.
//
//	former  {"a":{"x":"1"},"b":{"y":"2"}}
//	v       {"a":{"x":"1"},"b":{"y":"3"}}    a becomes former's
//
// Cost: the comparison of both, and a copy of each container that has parts of both.
func share(v, former Value) Value {
	kind := v.Kind()
	switch {
	case v.Same(former) || kind != former.Kind():
	case kind == KindString && v.str() == former.str():
		return former
	case kind == KindObject:
		return shareMembers(v, former)
	case kind == KindList:
		return shareItems(v, former)
	}
	return v
}

// shareMembers is share for two objects, whose members are in name order. It stores nothing for the
// first members if they are equal in both.
func shareMembers(v, former Value) Value {
	members, old := v.members(), former.members()
	var out []Member // the result, from the first shared part after a difference on
	alike, next := 0, 0
	for i, m := range members {
		for next < len(old) && old[next].Name < m.Name {
			next++
		}
		if next == len(old) {
			break
		}
		if old[next].Name != m.Name {
			continue
		}
		shared := share(m.Value, old[next].Value)
		if alike == i && next == i && shared.Same(old[i].Value) {
			alike++
			continue
		}
		if !shared.Same(m.Value) {
			if out == nil {
				out = slices.Clone(members)
			}
			out[i].Value = shared
		}
	}
	switch {
	case alike == len(members):
		return fromMembers(old[:alike])
	case alike > 0 && out == nil:
		out = slices.Clone(members)
		fallthrough
	case out != nil:
		copy(out, old[:alike])
		return fromMembers(out)
	}
	return v
}

// shareItems is share for two lists.
func shareItems(v, former Value) Value {
	items, old := v.items(), former.items()
	var out []Value // the result, from the first shared part after a difference on
	alike := 0
	for i, item := range items[:min(len(items), len(old))] {
		shared := share(item, old[i])
		if alike == i && shared.Same(old[i]) {
			alike++
			continue
		}
		if !shared.Same(item) {
			if out == nil {
				out = slices.Clone(items)
			}
			out[i] = shared
		}
	}
	switch {
	case alike == len(items):
		return fromItems(old[:alike])
	case alike > 0 && out == nil:
		out = slices.Clone(items)
		fallthrough
	case out != nil:
		copy(out, old[:alike])
		return fromItems(out)
	}
	return v
}
