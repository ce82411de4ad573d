package validation

// names are those that were met in a list, to find which come twice. Most lists are short: up to a few names are kept in an array, so that
// they cost no memory.
type names struct {
	few [8]string
	n   int
	all map[string]bool
}

// add notes a name, and reports whether it is new.
func (s *names) add(name string) bool {
	if s.has(name) {
		return false
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.all == nil {
		s.all = map[string]bool{}
	}
	s.all[name] = true
	return true
}

// has reports whether a name was met.
func (s *names) has(name string) bool {
	for _, had := range s.few[:s.n] {
		if had == name {
			return true
		}
	}
	return s.all[name]
}
