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

// In returns the fields of v that s selects, in the order of v. A path without wildcards that leads
// somewhere from the top of v is taken to begin there. The error is an [*AmbiguousError] if there
// are several and s has no wildcard.
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

// Check returns an [*AmbiguousError] if the fields that s was found to select are several and s has
// no wildcard.
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
