// Package selector knows how people say which fields they mean: by a path as conflicts print it, with wildcards.
package selector

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
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

// Parse reads a selector. The error says what is wrong with the text.
func Parse(text string) (Selector, error) {
	s := Selector{text: text, anywhere: text != "" && text[0] != '.' && text[0] != '['}
	rest := text
	if rest == "." {
		rest = ""
	}
	for first := true; rest != ""; first = false {
		var next step
		var err error
		switch {
		case rest[0] == '[':
			next, rest, err = bracket(rest)
		case rest[0] == '.' || first:
			next, rest, err = name(strings.TrimPrefix(rest, "."))
		default:
			err = fmt.Errorf("expected a dot or '[' in front of %q", rest)
		}
		if err != nil {
			return s, fmt.Errorf("%q: %w", text, err)
		}
		s.steps = append(s.steps, next)
	}
	if len(s.steps) == 0 {
		return s, fmt.Errorf("%q: the path is empty: say which field, such as .spec.replicas", text)
	}
	return s, nil
}

// name reads a name, and returns what follows it.
func name(text string) (step, string, error) {
	if strings.HasPrefix(text, `"`) {
		return quoted(text)
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	switch word := text[:end]; word {
	case "":
		return step{}, "", fmt.Errorf("a name is missing in front of %q", text)
	case "*":
		return step{name: "*", wildcard: true}, text[end:], nil
	default:
		return step{name: word}, text[end:], nil
	}
}

// quoted reads a name in double quotes.
func quoted(text string) (step, string, error) {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return step{}, "", fmt.Errorf("%s is no name in quotes", text)
	}
	word, err := strconv.Unquote(prefix)
	return step{name: word, element: fieldpath.Field(word)}, text[len(prefix):], err
}

// bracket reads what stands in brackets.
func bracket(text string) (step, string, error) {
	end := closing(text)
	if end < 0 {
		return step{}, "", fmt.Errorf("%s has no closing bracket", text)
	}
	inside, rest := text[1:end], text[end+1:]
	switch {
	case inside == "*":
		return step{wildcard: true}, rest, nil
	case strings.HasPrefix(inside, `"`):
		next, more, err := quoted(inside)
		if err == nil && more == "" {
			return next, rest, nil
		}
	}
	path, err := fieldpath.ParsePath(text[:end+1])
	if err != nil || len(path) != 1 {
		return step{}, "", fmt.Errorf("%s is no item: write [name=\"web\"], [=\"value\"], [0] or [*]", text[:end+1])
	}
	return step{element: path[0]}, rest, nil
}

// closing returns where the bracket closes that text begins with, -1 if it does not.
func closing(text string) int {
	inQuotes := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case inQuotes && c == '\\':
			i++
		case c == '"':
			inQuotes = !inQuotes
		case c == ']' && !inQuotes:
			return i
		}
	}
	return -1
}

// String returns the selector as it was written.
func (s Selector) String() string { return s.text }

// isPlain reports whether s can mean one field only.
func (s Selector) isPlain() bool { return !s.anywhere && !s.hasWildcard() }

func (s Selector) hasWildcard() bool {
	return slices.ContainsFunc(s.steps, func(x step) bool { return x.wildcard })
}

// Match returns the field of path that s selects: path itself, or what it is below of. It is false if there is none.
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

// AmbiguousError is a selector that means several fields of an object although it has no wildcard.
type AmbiguousError struct {
	Selector Selector
	Readings []fieldpath.Path
}

// Error lists the readings, in a form that leaves no doubt.
func (e *AmbiguousError) Error() string {
	texts := make([]string, len(e.Readings))
	for i, path := range e.Readings {
		texts[i] = Exact(path)
	}
	return fmt.Sprintf("%s may be %s", e.Selector, strings.Join(texts, " or "))
}

// Exact returns path as a selector that means nothing else.
func Exact(path fieldpath.Path) string {
	var b strings.Builder
	for _, e := range path {
		if e.Kind() == fieldpath.KindField && strings.ContainsAny(e.Name(), ".[]\"* ") {
			b.WriteString("[" + strconv.Quote(e.Name()) + "]")
		} else {
			b.WriteString(fieldpath.Path{e}.Text())
		}
	}
	return b.String()
}

// In returns the fields of v that s selects, in the order of v. A path without wildcards that leads somewhere from the top of v
// is taken to begin there. The error is an [*AmbiguousError] if there are several and s
// has no wildcard.
func (s Selector) In(v value.Value) ([]fieldpath.Path, error) {
	r := resolver{found: map[string]bool{}}
	r.resolve(s.steps, v, nil)
	if s.anywhere && (len(r.paths) == 0 || s.hasWildcard()) {
		r.below(s.steps, v, nil)
	}
	if s.isPlain() && len(r.paths) > 1 {
		return nil, &AmbiguousError{s, r.paths}
	}
	return r.paths, nil
}

// Check returns an [*AmbiguousError] if the fields that s was found to select are several and s has no wildcard.
func (s Selector) Check(selected []fieldpath.Path) error {
	slices.SortFunc(selected, func(p, q fieldpath.Path) int {
		return cmp.Or(len(q)-len(p), strings.Compare(p.Text(), q.Text()))
	})
	selected = slices.CompactFunc(selected, slices.Equal)
	if s.isPlain() && len(selected) > 1 && !slices.ContainsFunc(s.steps, func(x step) bool { return x.element.Kind() == fieldpath.KindKey }) {
		return &AmbiguousError{s, selected}
	}
	return nil
}

// resolver finds what a selector selects in an object.
type resolver struct {
	paths []fieldpath.Path
	found map[string]bool
}

func (r *resolver) resolve(steps []step, v value.Value, path fieldpath.Path) {
	if len(steps) == 0 {
		if text := path.Text(); !r.found[text] {
			r.found[text] = true
			r.paths = append(r.paths, slices.Clone(path))
		}
		return
	}
	x := steps[0]
	switch v.Kind() {
	case value.KindObject:
		if x.wildcard && x.name != "" {
			for name, member := range v.Members() {
				r.resolve(steps[1:], member, append(path, fieldpath.Field(name)))
			}
			return
		}
		for n := range names(steps) {
			if name := joined(steps[:n]); x.name != "" && !v.Get(name).IsAbsent() {
				r.resolve(steps[n:], v.Get(name), append(path, fieldpath.Field(name)))
			}
		}
	case value.KindList:
		for i := range v.Len() {
			if e, ok := x.item(v.Item(i), i); ok {
				r.resolve(steps[1:], v.Item(i), append(path, e))
			}
		}
	}
}

// item returns the element of item i of a list if x leads over it.
func (x step) item(item value.Value, i int) (fieldpath.Element, bool) {
	switch {
	case x.wildcard && x.name == "":
		return fieldpath.Index(i), true
	case x.wildcard || x.name != "":
		return fieldpath.Element{}, false
	case x.element.Kind() == fieldpath.KindIndex:
		return x.element, x.element.Index() == i
	case x.element.Kind() == fieldpath.KindItem:
		return x.element, x.element.Value().Equal(item)
	}
	for _, f := range x.element.Fields() {
		if !item.Get(f.Name).Equal(f.Value) {
			return fieldpath.Element{}, false
		}
	}
	return x.element, true
}

// below resolves the steps at everything in v.
func (r *resolver) below(steps []step, v value.Value, path fieldpath.Path) {
	switch v.Kind() {
	case value.KindObject:
		for name, member := range v.Members() {
			at := append(slices.Clip(path), fieldpath.Field(name))
			r.resolve(steps, member, at)
			r.below(steps, member, at)
		}
	case value.KindList:
		for i := range v.Len() {
			at := append(slices.Clip(path), fieldpath.Index(i))
			r.resolve(steps, v.Item(i), at)
			r.below(steps, v.Item(i), at)
		}
	}
}
