package value

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// sortMembers sorts members by name, stably. If two have the same name it returns the index of the second, and false.
func sortMembers(members []Member) (dup int, ok bool) {
	sortStable(members)
	for i := 1; i < len(members); i++ {
		if members[i-1].Name == members[i].Name {
			return i, false
		}
	}
	return 0, true
}

// maxInsertion is the largest object that is sorted by insertion.
const maxInsertion = 24

// sortStable sorts s by name. Objects are small and often almost in order, which an insertion sort likes.
func sortStable(s []Member) {
	if len(s) > maxInsertion {
		sortLarge(s)
		return
	}
	for i := 1; i < len(s); i++ {
		if s[i-1].Name <= s[i].Name {
			continue
		}
		m, j := s[i], i
		for ; j > 0 && m.Name < s[j-1].Name; j-- {
			s[j] = s[j-1]
		}
		s[j] = m
	}
}

// sortKey stands for a member: the eight bytes of its name behind what all names begin with, as a number, and where it is.
type sortKey struct {
	bytes uint64
	index int
}

var sortKeys = sync.Pool{New: func() any { return new([]sortKey) }}

// sortLarge sorts s by way of keys, which hold no pointers and mostly tell names apart.
func sortLarge(s []Member) {
	if slices.IsSortedFunc(s, func(a, b Member) int { return strings.Compare(a.Name, b.Name) }) {
		return
	}
	common := commonPrefix(s)
	pooled := sortKeys.Get().(*[]sortKey)
	keys := (*pooled)[:0]
	for i := range s {
		keys = append(keys, sortKey{eightBytes(s[i].Name[common:]), i})
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.bytes != b.bytes {
			return cmp.Compare(a.bytes, b.bytes)
		}
		return cmp.Or(strings.Compare(s[a.index].Name, s[b.index].Name), a.index-b.index)
	})
	arrange(s, keys)
	if len(keys) <= maxKept {
		*pooled = keys
		sortKeys.Put(pooled)
	}
}

// arrange puts the member that keys[i] stands for in place i of s, for each i. It moves members around in circles, and marks
// keys of places that are done.
func arrange(s []Member, keys []sortKey) {
	for start := range keys {
		first := s[start]
		for i := start; keys[i].index >= 0; {
			from := keys[i].index
			keys[i].index = -1
			if from == start {
				s[i] = first
			} else {
				s[i] = s[from]
			}
			i = from
		}
	}
}

// commonPrefix returns how many bytes all names begin with.
func commonPrefix(s []Member) int {
	first, n := s[0].Name, len(s[0].Name)
	for _, m := range s {
		n = min(n, len(m.Name))
		for !strings.HasPrefix(m.Name, first[:n]) {
			n--
		}
	}
	return n
}

// eightBytes returns the first bytes of name as a number that sorts as they do; those that are missing are zero.
func eightBytes(name string) (n uint64) {
	if len(name) >= 8 {
		return uint64(name[7]) | uint64(name[6])<<8 | uint64(name[5])<<16 | uint64(name[4])<<24 |
			uint64(name[3])<<32 | uint64(name[2])<<40 | uint64(name[1])<<48 | uint64(name[0])<<56
	}
	for i := range len(name) {
		n |= uint64(name[i]) << (56 - 8*i)
	}
	return n
}
