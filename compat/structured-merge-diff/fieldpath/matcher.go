package fieldpath

import (
	"fmt"
	"slices"
	"sort"

	deed "github.com/deed-project/deed/fieldpath"
)

// SetMatcher selects members of a set by the prefixes of their paths. See [NewSetMatcher].
type SetMatcher struct {
	wildcard bool // it matches every path
	members  []*SetMemberMatcher
}

// SetMemberMatcher matches a path if Path matches its first element and Child matches the rest.
type SetMemberMatcher struct {
	Path  PathElementMatcher
	Child *SetMatcher
}

// PathElementMatcher matches one element, or every element.
type PathElementMatcher struct {
	// Wildcard makes every element match, whatever PathElement is.
	Wildcard bool

	// PathElement is the element that matches.
	PathElement
}

// MatchAnyPathElement returns the matcher of every element.
func MatchAnyPathElement() PathElementMatcher { return PathElementMatcher{Wildcard: true} }

// Equals reports whether exactly one of p and p2 is a wildcard, and their elements are equal. Therefore no matcher equals
// itself.
func (p PathElementMatcher) Equals(p2 PathElementMatcher) bool {
	return p.Wildcard != p2.Wildcard && p.PathElement.Equals(p2.PathElement)
}

// Less reports whether p sorts before p2: wildcards come first.
func (p PathElementMatcher) Less(p2 PathElementMatcher) bool {
	if p.Wildcard || p2.Wildcard {
		return p.Wildcard && !p2.Wildcard
	}
	return p.PathElement.Less(p2.PathElement)
}

// Compare returns -1, 0 or 1 as p sorts before, with or after p2: wildcards come first. It returns 1 for two wildcards.
func (p PathElementMatcher) Compare(p2 PathElementMatcher) int {
	switch {
	case p2.Wildcard:
		return 1
	case p.Wildcard:
		return -1
	}
	return p.PathElement.Compare(p2.PathElement)
}

// MatchAnySet returns the matcher of every path.
func MatchAnySet() *SetMatcher { return &SetMatcher{wildcard: true} }

// NewSetMatcher returns the matcher of the paths that one of members matches. With wildcard, it matches every path. If several
// members match an element, only one counts: a wildcard, or else the first. NewSetMatcher sorts members and keeps the slice.
func NewSetMatcher(wildcard bool, members ...*SetMemberMatcher) *SetMatcher {
	sort.Sort(byPath(members))
	return &SetMatcher{wildcard: wildcard, members: members}
}

// byPath sorts matchers with package sort, because its order of equal matchers shows in results.
type byPath []*SetMemberMatcher

func (m byPath) Len() int           { return len(m) }
func (m byPath) Less(i, j int) bool { return m[i].Path.Less(m[j].Path) }
func (m byPath) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// PrefixMatcher returns the matcher of the paths that begin with parts. A part is a part of [MakePath] or a
// [PathElementMatcher].
func PrefixMatcher(parts ...interface{}) (*SetMatcher, error) {
	matcher := MatchAnySet()
	for _, part := range slices.Backward(parts) {
		element, ok := part.(PathElementMatcher)
		if !ok {
			e, known, err := elementOf(part)
			if err != nil {
				return nil, err
			}
			if !known {
				return nil, fmt.Errorf("unexpected type %T", part)
			}
			element = PathElementMatcher{PathElement: e}
		}
		matcher = &SetMatcher{members: []*SetMemberMatcher{{Path: element, Child: matcher}}}
	}
	return matcher, nil
}

// MakePrefixMatcherOrDie works like [PrefixMatcher], but panics on an error. It is for parts that are written in a program.
func MakePrefixMatcherOrDie(parts ...interface{}) *SetMatcher {
	matcher, err := PrefixMatcher(parts...)
	if err != nil {
		panic(err)
	}
	return matcher
}

// Merge returns a matcher of the paths that s or s2 matches. It merges members with the same element. If several members match
// an element, the rule of [NewSetMatcher] decides.
func (s *SetMatcher) Merge(s2 *SetMatcher) *SetMatcher {
	if s.wildcard || s2.wildcard {
		return MatchAnySet()
	}
	merged := slices.Clone(s.members)
	for _, m := range s2.members {
		i, found := sort.Find(len(s.members), func(i int) int { return s.members[i].Path.Compare(m.Path) })
		if !found {
			merged = append(merged, m)
			continue
		}
		merged[i] = &SetMemberMatcher{Path: merged[i].Path, Child: merged[i].Child.Merge(m.Child)}
	}
	return NewSetMatcher(false, merged...)
}

// FilterIncludeMatches returns the members of s that pattern matches, and the members that are prefixes of paths that it
// matches.
func (s *Set) FilterIncludeMatches(pattern *SetMatcher) *Set {
	if pattern.wildcard {
		return s
	}
	var b deed.Builder
	pattern.keep(&b, nil, s.deed())
	return wrap(b.Set(), s.wasRead())
}

// keep adds to b the members of s that m matches. s is below prefix.
func (m *SetMatcher) keep(b *deed.Builder, prefix deed.Path, s deed.Set) {
	elements := make([]deed.Element, len(m.members))
	for i, member := range m.members {
		if !member.Path.Wildcard {
			elements[i] = member.Path.toDeed()
		}
	}
	for e := range s.Entries() {
		path := append(slices.Clip(prefix), e.Element)
		i := 0
		if !m.wildcard {
			i = slices.IndexFunc(m.members, func(member *SetMemberMatcher) bool { return member.Path.Wildcard })
			if i < 0 {
				i = slices.Index(elements, e.Element)
			}
			if i < 0 {
				continue
			}
		}
		if e.Member {
			b.Add(path)
		}
		below := m
		if !m.wildcard {
			below = m.members[i].Child
		}
		below.keep(b, path, e.Sub)
	}
}

// Filter removes paths from sets.
type Filter interface {
	// Filter returns the paths of a set that remain. It does not modify the set.
	Filter(*Set) *Set
}

// NewExcludeSetFilter returns the filter that removes the members of exclude and all paths below them.
func NewExcludeSetFilter(exclude *Set) Filter { return excludeFilter{exclude} }

// NewExcludeFilterSetMap returns the filters of [NewExcludeSetFilter], by version.
func NewExcludeFilterSetMap(resetFields map[APIVersion]*Set) map[APIVersion]Filter {
	filters := make(map[APIVersion]Filter, len(resetFields))
	for version, exclude := range resetFields {
		filters[version] = excludeFilter{exclude}
	}
	return filters
}

type excludeFilter struct{ exclude *Set }

func (f excludeFilter) Filter(s *Set) *Set { return s.RecursiveDifference(f.exclude) }

// NewIncludeMatcherFilter returns the filter that removes the paths that no matcher matches. Without matchers, it removes
// nothing.
func NewIncludeMatcherFilter(matchers ...*SetMatcher) Filter {
	if len(matchers) == 0 {
		return includeFilter{MatchAnySet()}
	}
	merged := matchers[0]
	for _, m := range matchers[1:] {
		merged = merged.Merge(m)
	}
	return includeFilter{merged}
}

type includeFilter struct{ matcher *SetMatcher }

func (f includeFilter) Filter(s *Set) *Set { return s.FilterIncludeMatches(f.matcher) }
