package selector

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// In returns the fields of v that s selects, in the order of v. A path without wildcards that leads to a field from the top of v begins
// there. A path that leads to a field step by step has no other reading. The error is an [*AmbiguousError] if s has no wildcard and matches
// several fields.
func (s Selector) In(v value.Value) ([]fieldpath.Path, error) {
	for _, loose := range []bool{false, true} {
		r := resolver{loose: loose, found: map[secret.Key]bool{}}
		r.resolve(s.steps, v, nil)
		if s.anywhere && (len(r.paths) == 0 || s.hasWildcard()) {
			r.below(s.steps, v, nil)
		}
		if s.isPlain() && len(r.paths) > 1 {
			return nil, &AmbiguousError{s, r.paths}
		}
		if len(r.paths) > 0 {
			return r.paths, nil
		}
	}
	return nil, nil
}

// resolver finds the fields that a selector selects in an object.
type resolver struct {
	loose bool // whether to join bare names
	paths []fieldpath.Path
	found map[secret.Key]bool
}

func (r *resolver) resolve(steps []step, v value.Value, path fieldpath.Path) {
	if len(steps) == 0 {
		if key := secret.KeyOf(path); !r.found[key] {
			r.found[key] = true
			r.paths = append(r.paths, slices.Clone(path))
		}
		return
	}
	x := steps[0]
	switch {
	case v.Kind() == value.KindObject && x.kind == anyField:
		for name, member := range v.Members() {
			r.resolve(steps[1:], member, append(path, fieldpath.Field(name)))
		}
	case v.Kind() == value.KindObject && x.element.Kind() == fieldpath.KindField:
		for n := range names(steps, r.loose) {
			name := x.element
			if n > 1 {
				name = joined(steps[:n])
			}
			if member := v.Get(name.Name()); !member.IsAbsent() {
				r.resolve(steps[n:], member, append(path, name))
			}
		}
	case v.Kind() == value.KindList:
		for i := range v.Len() {
			if e, ok := x.item(v.Item(i), i); ok {
				r.resolve(steps[1:], v.Item(i), append(path, e))
			}
		}
	}
}

// item returns the element of item i of a list if x matches it.
func (x step) item(item value.Value, i int) (fieldpath.Element, bool) {
	switch {
	case x.kind == anyItem:
		return fieldpath.Index(i), true
	case x.element.Kind() == fieldpath.KindIndex:
		return x.element, x.element.Index() == i
	case x.element.Kind() == fieldpath.KindItem:
		return x.element, x.element.Value().Equal(item)
	case x.element.Kind() != fieldpath.KindKey:
		return fieldpath.Element{}, false
	}
	for _, f := range x.element.Fields() {
		if !item.Get(f.Name).Equal(f.Value) {
			return fieldpath.Element{}, false
		}
	}
	return x.element, true
}

// below resolves the steps at every place in v.
func (r *resolver) below(steps []step, v value.Value, path fieldpath.Path) {
	switch v.Kind() {
	case value.KindObject:
		for name, member := range v.Members() {
			at := append(path, fieldpath.Field(name))
			r.resolve(steps, member, at)
			r.below(steps, member, at)
		}
	case value.KindList:
		for i := range v.Len() {
			at := append(path, fieldpath.Index(i))
			r.resolve(steps, v.Item(i), at)
			r.below(steps, v.Item(i), at)
		}
	}
}
