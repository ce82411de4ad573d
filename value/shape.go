package value

import "strings"

// Objects of one kind come again and again, and have the same names in the same places. To look up a
// few names of a map in order costs two thirds of passing over the map and sorting what comes.

// shapes remembers the names that objects had, by the name of the member that holds the object and by
// the number of members:
//
//	spec      3    containers nodeName serviceAccountName
//	resources 2    limits requests
//
// What it remembers is a guess, which a map confirms or not. It is a table of fixed size, and its
// names share no memory with documents.
type shapes [256]shape

// shape is the usual names of an object.
type shape struct {
	members []Member // sorted by name, without values; nil if nothing is remembered
	missed  int      // how many objects with other names came since the last one with these
}

const (
	maxShape  = 24 // members of an object whose names are remembered
	maxMissed = 16 // objects with other names, until the names of the last one are remembered instead
)

// of returns the shape of objects of n members that a member called name holds, and nil if it is not
// remembered because of n.
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

// met takes note of the members of an object, and of whether their names were those that s, or a
// neighbour, had. A nil s takes no note.
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
