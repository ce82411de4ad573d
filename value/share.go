package value

import "slices"

// share returns v with what former has, where both have the same: members by name and items by
// number. It is former itself if that is exactly v. Unlike a [Decoder], it takes strings too: v and
// former are kept together, as versions of one object are.
//
//	former  {"a":{"x":"1"},"b":{"y":"2"}}
//	v       {"a":{"x":"1"},"b":{"y":"3"}}    a becomes former's
//
// The cost is that of comparing both, and of the containers that have something of each.
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

// shareMembers is share for two objects, whose members are in the order of names. As long as both
// begin with the same members, nothing is stored.
func shareMembers(v, former Value) Value {
	members, old := v.members(), former.members()
	var out []Member // what v becomes, once both do not begin alike any more and something is shared
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
	var out []Value // what v becomes, once both do not begin alike any more and something is shared
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
