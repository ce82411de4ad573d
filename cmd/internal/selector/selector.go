// Package selector knows how people say what they mean: fields by a path as conflicts print it,
// with wildcards, and managers by their names.
//
// Its nouns are [Selector] and [Manager].
package selector

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/fieldpath"
)

// Selector selects fields of objects, each with what is below it. It is written as a path:
//
//  1. .spec.replicas is that field. Without the first dot, containers[*].image selects at any depth.
//  2. A name may have dots in it, as conflicts print them: .metadata.annotations.example.org/team. Which dots are those of
//     names shows in the object. ["example.org/team"] and ."example.org/team" leave no doubt.
//  3. [name="web"] is the item with that key, which may leave out fields that the key has besides; [="a"] is the item with that
//     value, and [0] the first of a list whose items have no identity.
//  4. .* is any field of an object, and [*] any item of a list.
type Selector struct {
	text     string
	anywhere bool // whether it selects at any depth
	steps    []step
}

// step is one step of a selector: a name, an element, or a wildcard.
//
//	name   element   wildcard
//	"a"    zero      false     a field, or a part of its name between dots
//	"a"    field a   false     that very field
//	""     any       false     that item
//	"*"    zero      true      any field
//	""     zero      true      any item
type step struct {
	name     string
	element  fieldpath.Element
	wildcard bool
}

// String returns the selector as it was written.
func (s Selector) String() string { return s.text }

// isPlain reports whether s can mean one field only.
func (s Selector) isPlain() bool { return !s.anywhere && !s.hasWildcard() }

func (s Selector) hasWildcard() bool {
	return slices.ContainsFunc(s.steps, func(x step) bool { return x.wildcard })
}

// Match returns the field of path that s selects: path itself, or what it is below of. It is false
// if there is none.
func (s Selector) Match(path fieldpath.Path) (fieldpath.Path, bool) {
	for from := range path {
		if n := match(s.steps, path[from:]); n >= 0 {
			return path[:from+n], true
		}
		if !s.anywhere {
			break
		}
	}
	return nil, false
}

// match returns how many elements of path the steps lead over, -1 if they do not lead there.
func match(steps []step, path fieldpath.Path) int {
	if len(steps) == 0 {
		return 0
	}
	if len(path) == 0 {
		return -1
	}
	for n := range names(steps) {
		if steps[0].isName() && path[0] != fieldpath.Field(joined(steps[:n])) || !steps[0].isName() && !steps[0].takes(path[0]) {
			continue
		}
		if rest := match(steps[n:], path[1:]); rest >= 0 {
			return rest + 1
		}
	}
	return -1
}

// isName reports whether x is a name whose dots are not known to be its own.
func (x step) isName() bool { return x.name != "" && x.element == fieldpath.Any() && !x.wildcard }

// takes reports whether x, which is no such name, leads over e.
func (x step) takes(e fieldpath.Element) bool {
	switch isField := e.Kind() == fieldpath.KindField; {
	case x.wildcard:
		return isField == (x.name != "")
	case x.element.Kind() == fieldpath.KindKey && e.Kind() == fieldpath.KindKey:
		for _, f := range x.element.Fields() {
			if !slices.ContainsFunc(e.Fields(), func(g fieldpath.KeyField) bool { return f.Name == g.Name && f.Value.Equal(g.Value) }) {
				return false
			}
		}
		return true
	}
	return x.element == e
}

// names yields how many of the steps may together be one name: one, or with dots in it more.
func names(steps []step) func(func(int) bool) {
	return func(yield func(int) bool) {
		for n := 1; n <= len(steps); n++ {
			if !yield(n) || !steps[0].isName() || n < len(steps) && !steps[n].isName() {
				return
			}
		}
	}
}

// joined returns the name that the steps are together.
func joined(steps []step) string {
	words := make([]string, len(steps))
	for i, x := range steps {
		words[i] = x.name
	}
	return strings.Join(words, ".")
}
