package value

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

// maxInsertion is the largest object that is sorted by insertion alone.
const maxInsertion = 24

// sortStable sorts s by name. Objects are small and often almost in order, which an insertion sort likes; a large object
// goes to a merge of halves first.
func sortStable(s []Member) {
	if len(s) > maxInsertion {
		mid := len(s) / 2
		sortStable(s[:mid])
		sortStable(s[mid:])
		if s[mid].Name < s[mid-1].Name {
			mergeHalves(s, mid)
		}
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

// mergeHalves merges the sorted halves s[:mid] and s[mid:]; of equals, those of the first half come first.
func mergeHalves(s []Member, mid int) {
	first := append([]Member(nil), s[:mid]...)
	i, j, k := 0, mid, 0
	for ; i < len(first) && j < len(s); k++ {
		if s[j].Name < first[i].Name {
			s[k] = s[j]
			j++
		} else {
			s[k] = first[i]
			i++
		}
	}
	copy(s[k:], first[i:])
}
