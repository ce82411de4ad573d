package builtin_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/schema"
	library "github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
)

// TestFits puts wrong values and wrong names in places of the valid objects of TestFaults. Where the form says that an object
// fits, strict decoding into the Go type finds nothing. Most valid objects fit.
func TestFits(t *testing.T) {
	wrong := []value.Value{
		value.Null(), value.Bool(true), value.Int(0), value.Int(-1), value.Int(1 << 40), value.Float(1.5), value.String(""), value.String("x"),
		value.String("5m"), value.List(), value.List(value.Null()), value.List(value.String("x")), value.Object(),
		value.Object(value.Member{Name: "Name", Value: value.String("x")}), value.Object(value.Member{Name: "name", Value: value.Null()}),
	}
	valid, fitting, mutants := 0, 0, 0
	for v, object := range validObjects(t) {
		gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
		kind, known := library.Lookup(gvk)
		if !known {
			continue
		}
		check := func(object value.Value) bool { return checkFit(t, kind.Form(), object, v.New) }
		if valid++; check(object) {
			fitting++
		}
		next := func() value.Value { return wrong[mutants*7%len(wrong)] }
		mutate(object, next, func(mutant value.Value) {
			if mutants++; mutants%3 == 0 {
				check(mutant)
			}
		})
	}
	if t.Logf("%d of %d valid objects fit", fitting, valid); fitting*10 < valid*9 || mutants < 10000 {
		t.Errorf("%d of %d valid objects fit, of %d objects", fitting, valid, mutants)
	}
}

// TestHeld puts wrong values in places of the valid objects of TestFaults. Reading an object refuses exactly what decoding into the Go type
// refuses, also where a default value could take the place of an empty value.
func TestHeld(t *testing.T) {
	wrong := []value.Value{
		value.Bool(false), value.List(), value.Int(0), value.Object(), value.String(""), value.Bool(true), value.Int(7), value.String("x"),
		value.List(value.String("x")), value.Object(value.Member{Name: "x", Value: value.Int(1)}),
	}
	mutants, refused := 0, 0
	for v, object := range validObjects(t) {
		gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
		kind, known := library.Lookup(gvk)
		if !known {
			continue
		}
		next := func() value.Value { return wrong[mutants%len(wrong)] }
		mutate(object, next, func(mutant value.Value) {
			mutants++
			if mutant.Get("kind").Str() != gvk.Kind || mutant.Get("apiVersion").Str() != gvk.APIVersion() {
				return
			}
			_, got := kind.Held(mutant)
			want := kjson.Unmarshal(mutant.AppendJSON(nil), v.New())
			if want != nil {
				refused++
			}
			if (got == nil) != (want == nil) {
				t.Errorf("%s: read: %v, decoded: %v", mutant, got, want)
			}
		})
	}
	if t.Logf("%d of %d objects are refused", refused, mutants); refused < 5000 || mutants < 10000 {
		t.Errorf("%d of %d objects are refused", refused, mutants)
	}
}

// checkFit reports whether an object fits. If it does, strict decoding must find nothing.
func checkFit(t *testing.T, f *form.Type, object value.Value, empty func() any) bool {
	t.Helper()
	if !f.Fits(object) {
		return false
	}
	if found, err := kjson.UnmarshalStrict(object.AppendJSON(nil), empty()); err != nil || len(found) > 0 {
		t.Errorf("%s fits: %v, %v", object, found, err)
	}
	return true
}

// mutate calls yield with v after each change of one place in it: the next wrong value, or a member by another name.
func mutate(v value.Value, next func() value.Value, yield func(value.Value)) {
	for i := range v.Len() {
		if v.Kind() == value.KindList {
			items := slices.Collect(v.Items())
			put := func(item value.Value) {
				changed := slices.Clone(items)
				changed[i] = item
				yield(value.List(changed...))
			}
			put(next())
			mutate(items[i], next, put)
			continue
		}
		m := v.Member(i)
		put := func(member value.Value) { yield(v.With(m.Name, member)) }
		put(next())
		yield(v.With(m.Name, value.Value{}).With(m.Name+"X", m.Value))
		mutate(m.Value, next, put)
	}
}
