package value

import (
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// Sorting members by name. Small objects are sorted by insertion. Larger objects are sorted by
// numbers, which hold no pointers and are cheaper to move than members.
//
// Why not slices.SortStableFunc: the rows atomic-map-5000 of docs/benchmarks.md would take 1.3 to
// 2.2 times as long.

// isAscending reports whether members are sorted by name, without duplicate names.
func isAscending(members []Member) bool {
	for i := 1; i < len(members); i++ {
		if members[i-1].Name >= members[i].Name {
			return false
		}
	}
	return true
}

// sortMembers sorts members by name, stably. If two members have the same name, it returns the
// index of the second one, and false.
func sortMembers(members []Member) (dup int, ok bool) {
	sortStable(members)
	for i := 1; i < len(members); i++ {
		if members[i-1].Name == members[i].Name {
			return i, false
		}
	}
	return 0, true
}

// lastOfEachName keeps only the last member with each name. members must be sorted stably.
func lastOfEachName(members []Member) []Member {
	kept := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].Name != m.Name {
			kept = append(kept, m)
		}
	}
	return kept
}

// maxInsertion is the number of members of the largest object that is sorted by insertion.
const maxInsertion = 24

// sortStable sorts s by name, stably. Most objects are small and almost in order, so an insertion
// sort is fast.
func sortStable(s []Member) {
	if len(s) > maxInsertion {
		sortLarge(s, 3)
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

var sortKeys = sync.Pool{New: func() any { return new([]uint64) }}

// sortLarge sorts s by numeric keys, one for each member. The low bits of a key are the index of
// the member. The high bits are the first bytes of its name after the common prefix of all names.
// These bytes mostly distinguish the names. Members with the same bytes are sorted again by later
// bytes. After as many rounds as times says, they are sorted by their whole names.
//
//	names  key-07 key-20 key-13    the common prefix is "key-"
//	keys   "07"|0 "20"|1 "13"|2
//
// Cost: n log n comparisons, each linear in the common prefix of two names.
func sortLarge(s []Member, times int) {
	if slices.IsSortedFunc(s, compareNames) {
		return
	}
	common, place := commonPrefix(s), uint64(1)<<bits.Len(uint(len(s)))-1
	pooled := sortKeys.Get().(*[]uint64)
	keys := *pooled
	for i := range s {
		keys = append(keys, eightBytes(s[i].Name[common:])&^place|uint64(i))
	}
	slices.Sort(keys)
	arrange(s, keys, place)
	for from, to := 0, 1; from < len(s); to++ {
		if to < len(s) && keys[to]&^place == keys[from]&^place {
			continue
		}
		switch alike := s[from:to]; {
		case len(alike) <= maxInsertion:
			sortStable(alike)
		case times > 1 && len(alike) < len(s):
			sortLarge(alike, times-1)
		default:
			slices.SortStableFunc(alike, compareNames)
		}
		from = to
	}
	*pooled = slab.Kept(keys, maxKept)
	sortKeys.Put(pooled)
}

// compareNames orders members by name alone.
func compareNames(a, b Member) int { return strings.Compare(a.Name, b.Name) }

// arrange moves a member to each index i: the member whose index is in the low bits of keys[i]. It
// follows the cycles of the permutation. It sets the low bits of finished keys to place, which is
// no index.
func arrange(s []Member, keys []uint64, place uint64) {
	for start := range keys {
		first := s[start]
		for i := start; keys[i]&place != place; {
			from := int(keys[i] & place)
			keys[i] |= place
			if from == start {
				s[i] = first
			} else {
				s[i] = s[from]
			}
			i = from
		}
	}
}

// commonPrefix returns the length of the common prefix of all names. It reads a name at most once.
func commonPrefix(s []Member) int {
	first := s[0].Name
	n := len(first)
	for _, m := range s[1:] {
		n = min(n, len(m.Name))
		if m.Name[:n] == first[:n] {
			continue
		}
		i := 0
		for m.Name[i] == first[i] {
			i++
		}
		n = i
	}
	return n
}

// eightBytes returns the first eight bytes of name as a number that sorts as the bytes do. Missing
// bytes are zero.
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
