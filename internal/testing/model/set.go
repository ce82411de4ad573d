package model

import (
	"maps"
	"strconv"

	"github.com/deed-project/deed/fieldpath"
)

// Set is a set of paths by their text.
type Set map[string]fieldpath.Path

// text returns a unique text for a path, also for a path with the zero element.
func text(p fieldpath.Path) string {
	out := ""
	for _, e := range p {
		out += strconv.Quote(e.Wire())
	}
	return out
}

// SetOf returns s as a Set.
func SetOf(s fieldpath.Set) Set {
	out := Set{}
	for p := range s.All() {
		out[text(p)] = p
	}
	return out
}

// Fields returns s as a fieldpath.Set.
func (s Set) Fields() fieldpath.Set {
	var b fieldpath.Builder
	for _, p := range s {
		b.Add(p)
	}
	return b.Set()
}

// where returns the paths for which keep returns true.
func (s Set) where(keep func(fieldpath.Path) bool) Set {
	out := Set{}
	for name, p := range s {
		if keep(p) {
			out[name] = p
		}
	}
	return out
}

func (s Set) has(p fieldpath.Path) bool { _, ok := s[text(p)]; return ok }

// Union returns the paths that are in s or other.
func (s Set) Union(other Set) Set {
	out := maps.Clone(s)
	maps.Copy(out, other)
	return out
}

// Intersect returns the paths that are in s and in other.
func (s Set) Intersect(other Set) Set { return s.where(other.has) }

// Minus returns the paths of s that are not in other.
func (s Set) Minus(other Set) Set {
	return s.where(func(p fieldpath.Path) bool { return !other.has(p) })
}

// Without returns the paths of s that have no prefix in other.
func (s Set) Without(other Set) Set {
	return s.where(func(p fieldpath.Path) bool {
		for n := 1; n <= len(p); n++ {
			if other.has(p[:n]) {
				return false
			}
		}
		return true
	})
}

// Leaves returns the paths of s that are not a proper prefix of another path of s.
func (s Set) Leaves() Set {
	return s.where(func(p fieldpath.Path) bool {
		for _, q := range s {
			if len(q) > len(p) && q.HasPrefix(p) {
				return false
			}
		}
		return true
	})
}
