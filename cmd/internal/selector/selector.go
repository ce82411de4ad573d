// Package selector parses the notations of flags: paths with wildcards for fields, and names of managers.
//
// Its nouns are [Selector] and [Manager].
package selector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
)

// Selector selects fields of objects, each with everything below it. It is written like the paths in the output, see [fieldpath.Path.Text]:
//
//  1. .spec.replicas is that field. Without the first dot, containers[*].image selects at any depth.
//  2. .metadata.annotations."example.org/team" has a name in quotes; ["example.org/team"] is the same. API servers print no quotes: if
//     there is no such field step by step, the dots belong to a name.
//  3. [name="web"] is the item with that key, which may omit further fields of the key; [="a"] is the item with that value, and [0] is
//     the first item of a list whose items have no identity.
//  4. .* is any field of an object, and [*] any item of a list.
type Selector struct {
	text     string
	anywhere bool // whether it selects at any depth
	steps    []step
}

// step is one step of a selector.
type step struct {
	kind    stepKind
	element fieldpath.Element // for bare and exact
}

type stepKind uint8

const (
	exact    stepKind = iota // an element and no other
	bare                     // a field, or a part of its name between dots
	anyField                 // any field of an object
	anyItem                  // any item of a list
)

// String returns the selector as it was written.
func (s Selector) String() string { return s.text }

// Path returns s read step by step as a path. It returns false if s has wildcards.
func (s Selector) Path() (fieldpath.Path, bool) {
	var path fieldpath.Path
	for _, x := range s.steps {
		path = append(path, x.element)
	}
	return path, !s.hasWildcard()
}

// isPlain reports whether s may select one field only.
func (s Selector) isPlain() bool { return !s.anywhere && !s.hasWildcard() }

func (s Selector) hasWildcard() bool {
	return slices.ContainsFunc(s.steps, func(x step) bool { return x.kind == anyField || x.kind == anyItem })
}

// Among returns, for each path, the field that s selects: the path itself, a field around it, or nil if s selects neither. If s leads to
// some of the paths step by step, it has no other reading. The error is an [*AmbiguousError] if s may select one field only and matches
// several.
func (s Selector) Among(paths []fieldpath.Path) ([]fieldpath.Path, error) {
	for _, loose := range []bool{false, true} {
		out, found := make([]fieldpath.Path, len(paths)), false
		for i, path := range paths {
			if out[i] = s.match(path, loose); out[i] != nil {
				found = true
			}
		}
		if found {
			return out, s.check(out)
		}
	}
	return make([]fieldpath.Path, len(paths)), nil
}

// check returns an [*AmbiguousError] if s selected several fields and may select one only. A key that omits fields may match several items.
func (s Selector) check(selected []fieldpath.Path) error {
	selected = slices.DeleteFunc(slices.Clone(selected), func(p fieldpath.Path) bool { return p == nil })
	slices.SortStableFunc(selected, func(p, q fieldpath.Path) int {
		return cmp.Or(len(q)-len(p), secret.KeyOf(p).Compare(secret.KeyOf(q)))
	})
	selected = slices.CompactFunc(selected, slices.Equal)
	if s.isPlain() && len(selected) > 1 && !slices.ContainsFunc(s.steps, func(x step) bool { return x.element.Kind() == fieldpath.KindKey }) {
		return &AmbiguousError{s, selected}
	}
	return nil
}

// match returns the prefix of path that s selects, nil if there is none. Loose readings join bare names, and accept keys with more fields.
func (s Selector) match(path fieldpath.Path, loose bool) fieldpath.Path {
	for from := range path {
		if n := match(s.steps, path[from:], loose); n >= 0 {
			return path[:from+n]
		}
		if !s.anywhere {
			break
		}
	}
	return nil
}

// match returns the number of elements of path that the steps match, or -1 if they do not match.
func match(steps []step, path fieldpath.Path, loose bool) int {
	if len(steps) == 0 {
		return 0
	}
	if len(path) == 0 {
		return -1
	}
	for n := range names(steps, loose) {
		if n == 1 && !steps[0].takes(path[0], loose) || n > 1 && path[0] != joined(steps[:n]) {
			continue
		}
		if rest := match(steps[n:], path[1:], loose); rest >= 0 {
			return rest + 1
		}
	}
	return -1
}

// takes reports whether x matches e.
func (x step) takes(e fieldpath.Element, loose bool) bool {
	switch isField := e.Kind() == fieldpath.KindField; {
	case x.kind == anyField:
		return isField
	case x.kind == anyItem:
		return !isField
	case loose && x.element.Kind() == fieldpath.KindKey && e.Kind() == fieldpath.KindKey:
		for _, f := range x.element.Fields() {
			if !slices.ContainsFunc(e.Fields(), func(g fieldpath.KeyField) bool { return f.Name == g.Name && f.Value.Equal(g.Value) }) {
				return false
			}
		}
		return true
	}
	return x.element == e
}

// names yields the numbers of steps that may together match one element of a path. The first number is 1. In a loose reading, several bare
// names may form one name with dots.
func names(steps []step, loose bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		for n := 1; n <= len(steps); n++ {
			if !yield(n) || !loose || steps[0].kind != bare || n < len(steps) && steps[n].kind != bare {
				return
			}
		}
	}
}

// joined returns the field whose name consists of the steps, which are bare.
func joined(steps []step) fieldpath.Element {
	words := make([]string, len(steps))
	for i, x := range steps {
		words[i] = x.element.Name()
	}
	return fieldpath.Field(strings.Join(words, "."))
}

// AmbiguousError reports a selector without a wildcard that matches several fields of an object.
type AmbiguousError struct {
	Selector Selector
	Readings []fieldpath.Path
}

// Error lists the readings, with all secrets masked.
func (e *AmbiguousError) Error() string { return e.Seen(secret.View{}) }

// Seen lists the readings. It implements [secret.Seen].
func (e *AmbiguousError) Seen(view secret.View) string {
	texts := make([]string, len(e.Readings))
	for i, path := range e.Readings {
		texts[i] = view.Path(path)
	}
	return fmt.Sprintf("%s may be %s", e.Selector, strings.Join(texts, " or "))
}
