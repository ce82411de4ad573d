package entries

import (
	"errors"
	"slices"
	"testing"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/testobjects"
	"github.com/deed-project/deed/managedfields"
)

// TestQuery compares the results of queries with the owners of the paths.
func TestQuery(t *testing.T) {
	first, second := selector.ParseManager("m0"), selector.ParseManager("m1:Apply")
	for _, o := range testobjects.Owned(t) {
		e, err := Of(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			query Query
			want  func(first, second bool) bool
		}{
			{Query{Only: []selector.Manager{first}}, func(a, _ bool) bool { return a }},
			{Query{Not: []selector.Manager{first}}, func(a, b bool) bool { return b && !a }},
			{Query{Both: []selector.Manager{first, second}}, func(a, b bool) bool { return a && b }},
			{Query{Only: []selector.Manager{first, second}, Not: []selector.Manager{second}}, func(a, b bool) bool { return a && !b }},
		} {
			got := c.query.Set(e)
			for path := range e.Sets[0].Union(e.Sets[1]).All() {
				owners := e.OwnersAt(path)
				owns := func(index int) bool {
					return slices.ContainsFunc(owners, func(h manifest.Holder) bool { return h.Index == index })
				}
				if want := c.want(owns(0), owns(1)); got.Has(path) != want {
					t.Errorf("%v: %+v has %s: %t, want %t", o.Id, c.query, path.Text(), !want, want)
				}
			}
		}
	}
}

// TestSizes checks that an object without entries has no bytes of them, and that each entry has some.
func TestSizes(t *testing.T) {
	for _, o := range testobjects.Owned(t) {
		s := SizesOf(o)
		sum := 0
		for _, n := range s.Entries {
			sum += n
		}
		if sum == 0 || sum > s.Managed || s.Managed > s.Object {
			t.Errorf("%v: sizes %+v", o.Id, s)
		}
		o.Entries = nil
		if s := SizesOf(o); s.Managed != 0 {
			t.Errorf("%v: %d bytes of managed fields without entries", o.Id, s.Managed)
		}
	}
}

// TestUnreadable checks that an unreadable entry owns nothing, and that the error names it.
func TestUnreadable(t *testing.T) {
	o := testobjects.Owned(t)[0]
	o.Entries[1].FieldsV1 = managedfields.FieldsOf(`{"f:spec":`)
	e, err := Of(o)
	if !e.Sets[1].IsEmpty() || e.Sets[0].IsEmpty() {
		t.Errorf("got sets %v", e.Sets)
	}
	var defect *managedfields.EntryError
	if !errors.As(err, &defect) || defect.Index != 1 {
		t.Errorf("got error %v, want one of entry 1", err)
	}
}
