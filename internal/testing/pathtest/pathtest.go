// Package pathtest checks that paths from a function belong to the caller. The caller may keep them, write to them and append to
// them. A path that shares memory with another path shows one field twice and hides another. The checks need deep paths, because
// slices have spare capacity only from some length on.
package pathtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
)

// Belong calls source three times for a value that holds or yields paths:
//
//   - The first call keeps the paths, and finally compares them with their copies.
//   - The second call writes to each path as it arrives. The following paths must not change.
//   - The third call must return the same paths as the first.
//
// At least one path must have depth elements.
func Belong(t *testing.T, depth int, source func() any) {
	t.Helper()
	var kept []fieldpath.Path
	var first, second, third []string
	each(reflect.ValueOf(source()), func(p fieldpath.Path) { kept, first = append(kept, p), append(first, p.Text()) })
	for i, p := range kept {
		if got := p.Text(); got != first[i] {
			t.Errorf("path %d was %s, and is %s in the end", i, first[i], got)
		}
	}
	other := fieldpath.Field("written by the caller")
	each(reflect.ValueOf(source()), func(p fieldpath.Path) {
		second = append(second, p.Text())
		_ = append(p, other, other, other)
		for i := range p {
			p[i] = other
		}
	})
	each(reflect.ValueOf(source()), func(p fieldpath.Path) { third = append(third, p.Text()) })
	for _, got := range [][]string{second, third} {
		if !slices.Equal(got, first) {
			t.Errorf("to write to paths changes others: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(first, "\n"))
		}
	}
	if !slices.ContainsFunc(kept, func(p fieldpath.Path) bool { return len(p) >= depth }) {
		t.Errorf("no path has %d elements: %v", depth, first)
	}
}

var pathType = reflect.TypeFor[fieldpath.Path]()

// In reports whether values of type t have paths in exported fields, items or members, or yield them.
func In(t reflect.Type) bool { return in(t, 4) }

// in searches depth levels of types for paths.
func in(t reflect.Type, depth int) bool {
	if t == pathType || depth == 0 {
		return t == pathType
	}
	switch t.Kind() {
	case reflect.Func: // a sequence: the arguments of its yield
		if t.CanSeq() || t.CanSeq2() {
			for i := range t.In(0).NumIn() {
				if in(t.In(0).In(i), depth-1) {
					return true
				}
			}
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return in(t.Elem(), depth-1)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && in(t.Field(i).Type, depth-1) {
				return true
			}
		}
	}
	return false
}

// each calls f for each path that v holds or yields, in order.
func each(v reflect.Value, f func(fieldpath.Path)) {
	switch {
	case !v.IsValid():
	case v.Type() == pathType:
		f(v.Interface().(fieldpath.Path))
	case v.Kind() == reflect.Func && v.Type().CanSeq():
		for x := range v.Seq() {
			each(x, f)
		}
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		each(v.Elem(), f)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), f)
		}
	case v.Kind() == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			each(v.MapIndex(key), f)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				each(v.Field(i), f)
			}
		}
	}
}
