package value

import "strings"

// Objects of the same kind have the same names in the same places. For a few names, looking them up
// in a map, in order, costs two thirds of iterating over the map and sorting the names.

// shapes caches the names of objects, by the name of the member that holds the object and the
// number of its members:
//
//	spec      3    containers nodeName serviceAccountName
//	resources 2    limits requests
//
// The cached names are a guess: the lookups in a map confirm or refute it. The table has a fixed
// size. Its names share no memory with documents.
type shapes [256]shape

// shape holds the usual names of an object.
type shape struct {
	members []Member // sorted by name, without values; nil if nothing is cached
	missed  int      // number of objects with other names since the last match
}

const (
	maxShape  = 24 // largest number of members of an object whose names are cached
	maxMissed = 16 // number of misses after which the names of the last object replace the shape
)

// of returns the shape of objects of n members in a member called name. It returns nil if shapes
// caches no objects of that size.
func (t *shapes) of(name string, n int) *shape {
	if n < 2 || n > maxShape {
		return nil
	}
	place := n
	if name != "" {
		place += spread(name, len(t))
	}
	return &t[place%len(t)]
}

// met updates s with the members of an object. guessed says that their names were the names of s or
// of a sibling. A nil s is not updated.
func (s *shape) met(members []Member, guessed bool) {
	switch {
	case s == nil:
		return
	case guessed:
		s.missed = 0
		return
	}
	if s.missed++; s.members != nil && s.missed < maxMissed {
		return
	}
	usual := make([]Member, len(members))
	for i, m := range members {
		if len(m.Name) > maxName {
			return
		}
		usual[i].Name = strings.Clone(m.Name)
	}
	s.members, s.missed = usual, 0
}
