package value

// arena cuts the members and items of new containers from slabs, so that one document costs a few allocations and lies
// close together. A slab lives as long as anything cut from it: a part of a document keeps its neighbours alive.
type arena struct {
	members []Member
	items   []Value
	next    int // how many members the next slab has
}

// expect sizes the first slab for a document of n bytes of JSON text.
func (a *arena) expect(n int) { a.next = min(max(n/32, 4), maxSlab) }

// maxSlab bounds what the unused end of a document's last slab wastes: 1024 members are 32 kB.
const maxSlab = 1024

func (a *arena) takeMembers(n int) []Member {
	if n > cap(a.members)-len(a.members) {
		a.members = make([]Member, 0, max(n, a.next))
		a.next = min(2*max(a.next, 4), maxSlab)
	}
	start := len(a.members)
	a.members = a.members[:start+n]
	return a.members[start : start+n : start+n]
}

func (a *arena) takeItems(n int) []Value {
	if n > cap(a.items)-len(a.items) {
		a.items = make([]Value, 0, max(n, min(a.next, maxSlab/4)/4, 4))
	}
	start := len(a.items)
	a.items = a.items[:start+n]
	return a.items[start : start+n : start+n]
}

// object copies members, which are sorted, into the arena.
func (a *arena) object(members []openMember) Value {
	out := a.takeMembers(len(members))
	for i := range members {
		out[i] = members[i].Member
	}
	return fromMembers(out)
}

// list copies items into the arena.
func (a *arena) list(items []Value) Value {
	out := a.takeItems(len(items))
	copy(out, items)
	return fromItems(out)
}

// sortStable sorts s. Objects are small and often almost in order, which an insertion sort likes; a large object goes to a
// merge of halves first.
func sortStable[E any](s []E, less func(a, b *E) bool) {
	if len(s) > 24 {
		mid := len(s) / 2
		sortStable(s[:mid], less)
		sortStable(s[mid:], less)
		if less(&s[mid], &s[mid-1]) {
			mergeHalves(s, mid, less)
		}
		return
	}
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && less(&s[j], &s[j-1]); j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// mergeHalves merges the sorted halves s[:mid] and s[mid:]; of equals, those of the first half come first.
func mergeHalves[E any](s []E, mid int, less func(a, b *E) bool) {
	first := append([]E(nil), s[:mid]...)
	i, j, k := 0, mid, 0
	for ; i < len(first) && j < len(s); k++ {
		if less(&s[j], &first[i]) {
			s[k] = s[j]
			j++
		} else {
			s[k] = first[i]
			i++
		}
	}
	copy(s[k:], first[i:])
}
