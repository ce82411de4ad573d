package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/storetest"
	"github.com/deed-project/deed/value"
)

// thing returns the definition of things in a group.
func thing(t testing.TB, plural, group string) value.Value {
	t.Helper()
	d, err := value.Parse(fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"%[1]s.%[2]s"},"spec":{"group":%[2]q,"scope":"Cluster","names":{"plural":%[1]q,"kind":"Kind%[1]s"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, plural, group))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestForgotten reads two definitions, a change of one, and the deletion of the other: nothing is kept of what is gone.
func TestForgotten(t *testing.T) {
	for _, in := range []store.Store{memory.New(), storetest.WithoutHistory{Store: memory.New()}} {
		all := &definitions{}
		put := func(d value.Value, expect store.Revision) store.Revision {
			t.Helper()
			revision, err := in.Put(t.Context(), d.Get("metadata", "name").Str(), d.AppendJSON(nil), expect)
			if err == nil {
				_, err = all.catchUp(t.Context(), in, "", time.Now)
			}
			if err != nil {
				t.Fatal(err)
			}
			return revision
		}
		first := thing(t, "things", "g1.org")
		revision := put(first, 0)
		put(thing(t, "things", "g2.org"), 0)
		labels := value.Object(value.Member{Name: "a", Value: value.String("b")})
		put(first.With("metadata", first.Get("metadata").With("labels", labels)), revision)
		if got := all.of["things.g1.org"].now.Get("metadata", "labels", "a").Str(); got != "b" {
			t.Errorf("a label that was written is read as %q", got)
		}
		if _, err := in.Delete(t.Context(), "things.g2.org", 0); err != nil {
			t.Fatal(err)
		}
		changed, err := all.catchUp(t.Context(), in, "", time.Now)
		if err != nil || len(changed) != 1 || !changed[0].gone {
			t.Errorf("a deletion changes %d definitions: %v", len(changed), err)
		}
		if len(all.of) != 1 || len(all.names) != 1 || len(all.unsettled) != 1 || len(all.waiting) != 0 {
			t.Errorf("%d definitions are kept, names of %d groups, %d unsettled and %d waiting", len(all.of), len(all.names), len(all.unsettled), len(all.waiting))
		}
	}
}

// TestNamesPassedOn deletes the first of many definitions of which each wants the kind that the one before it has: each gets it, and is looked
// at as often as that changes something.
func TestNamesPassedOn(t *testing.T) {
	for _, backwards := range []bool{false, true} {
		looked := map[int]int{}
		for _, n := range []int{50, 100} {
			all := &definitions{of: map[string]*definition{}, names: map[string]crd.Names{}, waiting: map[wanted]set{}, unsettled: set{}}
			of := make([]*definition, n)
			for i := range of {
				now := thing(t, fmt.Sprintf("things%d", i), "g.org")
				names := now.Get("spec", "names").With("kind", value.String(fmt.Sprintf("Kind%d", i)))
				now = now.With("spec", now.Get("spec").With("names", names))
				of[i] = &definition{created: store.Revision(i + 1)}
				if backwards {
					of[i].created = store.Revision(n - i)
				}
				all.become(of[i], now)
				all.accept(of[i], time.Now())
			}
			for i := 1; i < n; i++ { // now each wants the kind of the one before it
				names := of[i].now.Get("spec", "names").With("kind", value.String(fmt.Sprintf("Kind%d", i-1)))
				all.become(of[i], of[i].now.With("spec", of[i].now.Get("spec").With("names", names)))
				all.accept(of[i], time.Now())
			}
			all.become(of[0], of[0].now.With("status", value.Value{}))
			looked[n] = all.settle(set{}, time.Now)
			for i := 1; i < n; i++ {
				if got, want := of[i].now.Get("status", "acceptedNames", "kind").Str(), fmt.Sprintf("Kind%d", i-1); got != want {
					t.Errorf("definition %d of %d has the kind %q, want %q", i, n, got, want)
				}
			}
		}
		if looked[100] > 2*looked[50]+2 {
			t.Errorf("looked %d times at 50 definitions, %d times at 100", looked[50], looked[100])
		}
	}
}

// TestUnwrittenNames gives the name that a definition gave up to another one, and has the first one want it again before its status was
// stored: it does not get it back.
func TestUnwrittenNames(t *testing.T) {
	for _, in := range []store.Store{memory.New(), storetest.WithoutHistory{Store: memory.New()}} {
		all := &definitions{}
		put := func(d value.Value, kind string) {
			t.Helper()
			names := d.Get("spec", "names").With("kind", value.String(kind))
			d = d.With("spec", d.Get("spec").With("names", names))
			key, had := d.Get("metadata", "name").Str(), store.Revision(0)
			if of := all.of[key]; of != nil {
				had = of.revision
			}
			if _, err := in.Put(t.Context(), key, d.AppendJSON(nil), had); err != nil {
				t.Fatal(err)
			}
			if _, err := all.catchUp(t.Context(), in, "", time.Now); err != nil {
				t.Fatal(err)
			}
		}
		kind := func(name string) string { return all.of[name].now.Get("status", "acceptedNames", "kind").Str() }
		first, second := thing(t, "first", "g.org"), thing(t, "second", "g.org")
		put(first, "Wanted")
		first = all.of["first.g.org"].now // its status is stored
		put(first, "Wanted")
		put(second, "Wanted")
		put(first, "Other")
		put(first, "Wanted")
		if got, other := kind("first.g.org"), kind("second.g.org"); got != "Other" || other != "Wanted" {
			t.Errorf("the first definition has the kind %s and the second one %s, want Other and Wanted", got, other)
		}
	}
}

// TestNameOfSuccessor deletes a definition that has a name, and creates another one in its place before anybody looks: the name goes to the
// definition that waited for it.
func TestNameOfSuccessor(t *testing.T) {
	for _, in := range []store.Store{memory.New(), storetest.WithoutHistory{Store: memory.New()}} {
		all := &definitions{}
		put := func(d value.Value) {
			t.Helper()
			d = d.With("spec", d.Get("spec").With("names", d.Get("spec", "names").With("kind", value.String("Wanted"))))
			if _, err := in.Put(t.Context(), d.Get("metadata", "name").Str(), d.AppendJSON(nil), 0); err != nil {
				t.Fatal(err)
			}
		}
		look := func(want string) {
			t.Helper()
			if _, err := all.catchUp(t.Context(), in, "", time.Now); err != nil {
				t.Fatal(err)
			}
			for name, of := range all.of {
				if has := of.now.Get("status", "acceptedNames", "kind").Str() == "Wanted"; has != (name == want) {
					t.Errorf("%s has the kind: %t, which is to be that of %s", name, has, want)
				}
			}
		}
		first, second := thing(t, "first", "g.org"), thing(t, "second", "g.org")
		put(first)
		put(second)
		look("first.g.org")
		if _, err := in.Delete(t.Context(), "first.g.org", 0); err != nil {
			t.Fatal(err)
		}
		put(first)
		look("second.g.org")
	}
}
