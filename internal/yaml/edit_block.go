package yaml

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// object changes the block n of members from old to new.
func (e *editor) object(n *yaml.Node, old, new value.Value, end int) bool {
	entries, names, ok := e.members(n, end)
	if !ok {
		return false
	}
	at, left := column(n.Content[0]), 0
	for i, x := range entries {
		wanted := new.Get(names[i])
		switch {
		case names[i] == "": // <<
			left++
		case wanted.IsAbsent():
			after := 0
			if i > 0 {
				after = entries[i-1].end
			}
			if !e.remove(x, at, after) {
				return false
			}
		default:
			left++
			if !e.member(x, old.Get(names[i]), wanted, at) {
				return false
			}
		}
	}
	return left > 0 && e.addMembers(entries, names, old, new)
}

// members returns the entries of n with their names. The name of << is empty.
func (e *editor) members(n *yaml.Node, end int) (entries []entry, names []string, ok bool) {
	if len(n.Content) == 0 {
		return nil, nil, false
	}
	at := column(n.Content[0])
	for i := 0; i < len(n.Content); i += 2 {
		key, name := n.Content[i], ""
		if column(key) != at || key.Kind != yaml.ScalarNode || key.Anchor != "" {
			return nil, nil, false
		}
		if !isMerge(key) {
			var reason string
			if name, reason = nameOf(key); reason != "" || name == "" {
				return nil, nil, false
			}
		}
		next := end
		if i+2 < len(n.Content) {
			next = n.Content[i+2].Line - 1
		}
		start := key.Line - 1
		if next <= start {
			return nil, nil, false
		}
		entries = append(entries, entry{key, n.Content[i+1], start, e.contentEnd(start, next, at), i == 0})
		names = append(names, name)
	}
	return entries, names, true
}

// member changes the value of member x from old to wanted.
func (e *editor) member(x entry, old, wanted value.Value, at int) bool {
	if e.attempt(x.content, old, wanted, x.end) {
		return true
	}
	if x.content.Anchor != "" {
		return false
	}
	from := e.offset(x.key)
	colon, ok := e.endOf(x.key, from)
	if !ok {
		return false
	}
	for colon < len(e.data) && e.data[colon] == ' ' {
		colon++
	}
	if colon >= len(e.data) || e.data[colon] != ':' {
		return false
	}
	p := printer{}
	p.below(wanted, at)
	e.replace(colon+1, e.starts[x.end], p.b)
	return true
}

// addMembers inserts the members of new that old lacks. Each goes after the last entry that kubectl would print before it. Cost: a sort of
// the names of both.
func (e *editor) addMembers(entries []entry, names []string, old, new value.Value) bool {
	at := column(entries[0].key)
	behind := -1
	for _, m := range e.inOrder(names, old, new) {
		if m.entry >= 0 {
			behind = max(behind, m.entry)
			continue
		}
		if !isSimpleKey(m.name) {
			return false
		}
		p := printer{}
		p.str(m.name, at+indentStep, true)
		p.b = append(p.b, ':')
		p.below(new.Get(m.name), at)
		if behind < 0 {
			e.insertBefore(entries[0], p.b, at)
			continue
		}
		e.insert(entries[behind], p.b, at)
	}
	return true
}

// placed is the name of a member and the index of its entry; -1 for a new member.
type placed struct {
	name  string
	entry int
}

// inOrder returns the entries with the given names, and the members that new adds, in kubectl's order. It returns nothing if new adds no
// member.
func (e *editor) inOrder(names []string, old, new value.Value) []placed {
	var all []placed
	for name := range new.Members() {
		if old.Get(name).IsAbsent() {
			all = append(all, placed{name, -1})
		}
	}
	if len(all) == 0 {
		return nil
	}
	for i, name := range names {
		all = append(all, placed{name, i})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.entry, b.entry)) })
	slices.SortStableFunc(all, func(a, b placed) int {
		e.pairs++
		return compareNatural(a.name, b.name)
	})
	return all
}

// list changes the block n of items from old to new. It edits the items that match, see [matchItems], and removes or prints the others.
func (e *editor) list(n *yaml.Node, old, new value.Value, end int) bool {
	entries, ok := e.items(n, end)
	if !ok || len(entries) != old.Len() {
		return false
	}
	at := column(n)
	match := matchItems(old, new)
	if !e.removeItems(entries, match, at) {
		return false
	}
	from := make([]int, new.Len()) // the one-based entry that becomes each item
	for i, j := range match {
		if j >= 0 {
			from[j] = i + 1
		}
	}
	moved := e.removedItems(entries, match, old, at)
	last := -1 // the entry after which new items go
	for j := range new.Len() {
		wanted := new.Item(j)
		if i := from[j] - 1; i >= 0 {
			if !e.item(entries[i], old.Item(i), wanted, at) {
				return false
			}
			last = i
			continue
		}
		text, ok := moved[string(wanted.AppendJSON(nil))]
		if !ok {
			p := printer{b: []byte("- ")}
			p.inline(wanted, at+indentStep)
			text = p.b
		}
		if last < 0 {
			e.insertBefore(entries[0], text, at)
			continue
		}
		e.insert(entries[last], text, at)
	}
	return true
}

// removeItems removes the entries that match no item. It returns false if no entry would be left.
func (e *editor) removeItems(entries []entry, match []int, at int) bool {
	left := 0
	for i, x := range entries {
		after := 0
		if i > 0 {
			after = entries[i-1].end
		}
		switch {
		case match[i] >= 0:
			left++
		case !e.remove(x, at, after):
			return false
		}
	}
	return left > 0
}

// items returns the entries of n.
func (e *editor) items(n *yaml.Node, end int) (entries []entry, ok bool) {
	at := column(n)
	for i, item := range n.Content {
		next := end
		if i+1 < len(n.Content) {
			next = n.Content[i+1].Line - 1
		}
		start := item.Line - 1
		dash := e.starts[start] + at
		if next <= start || dash >= len(e.data) || e.data[dash] != '-' || i > 0 && !e.ownLine(start, dash) {
			return nil, false
		}
		entries = append(entries, entry{content: item, start: start, end: e.contentEnd(start, next, at), first: i == 0})
	}
	return entries, len(entries) > 0
}

// item changes the value of item x from old to wanted.
func (e *editor) item(x entry, old, wanted value.Value, at int) bool {
	if e.attempt(x.content, old, wanted, x.end) {
		return true
	}
	if x.content.Anchor != "" {
		return false
	}
	p := printer{b: []byte(" ")}
	p.inline(wanted, at+indentStep)
	e.replace(e.starts[x.start]+at+1, e.starts[x.end], p.b)
	return true
}

// removedItems returns the texts of removed items by their JSON. A new item that is equal to a removed item has moved, and keeps its text.
// The first of equal removed items counts.
func (e *editor) removedItems(entries []entry, match []int, old value.Value, at int) map[string][]byte {
	out := map[string][]byte{}
	for i, x := range entries {
		if match[i] >= 0 {
			continue
		}
		key := string(old.Item(i).AppendJSON(nil))
		if _, twice := out[key]; !twice {
			text := e.data[e.starts[x.start]+at : e.starts[x.end]]
			out[key] = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		}
	}
	return out
}
