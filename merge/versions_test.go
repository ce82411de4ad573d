package merge_test

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// renaming converts between versions in which one field has the name of the version. It counts conversions by version.
type renaming map[string]int

func (r renaming) Convert(v typed.Value, to string) (typed.Value, error) {
	r[to]++
	content := v.Content()
	for name, member := range content.Members() {
		if name == "v1" || name == "v2" || name == "v3" {
			content = content.With(name, value.Value{}).With(to, member)
		}
	}
	return typed.New(content, v.Type())
}

func fieldsOf(names ...string) fieldpath.Set {
	var b fieldpath.Builder
	for _, name := range names {
		b.Add(fieldpath.Path{fieldpath.Field(name)})
	}
	return b.Set()
}

// owner returns an entry of an updater with these fields in its version.
func owner(name, apiVersion string, fields ...string) merge.Entry {
	return merge.Entry{
		Manager:    merge.Manager{Name: name, Operation: merge.Update, APIVersion: apiVersion},
		APIVersion: apiVersion, Fields: fieldsOf(fields...),
	}
}

// An owner in another version has its conflicts on the paths of that version, with what stands there; and its version is converted
// to no more often than for the live and the new object.
func TestConflictsAreThoseOfTheOwnersVersion(t *testing.T) {
	conversions := renaming{}
	plan, err := merge.New(merge.Config{Converter: conversions}).Apply(merge.Request{
		Live: typedOf(t, schema.Deduced, `{"v1":"old","same":1}`), Object: typedOf(t, schema.Deduced, `{"v1":"new","same":1}`),
		Manager: merge.Manager{Name: "alpha", Operation: merge.Apply}, APIVersion: "v1",
		Managers: merge.ManagersOf(owner("b", "v2", "v2", "same"), owner("c", "v2", "v2"), owner("d", "v1", "v1"), owner("e", "v2", "v1")),
	})
	if err != nil {
		t.Fatal(err)
	}
	conflicts := plan.Conflicts()
	want := map[string]string{"b": ".v2", "c": ".v2", "d": ".v1"} // the path of e is of no field of its version
	for _, c := range conflicts {
		if want[c.Owner.Manager.Name] != c.Path.String() || c.Live.Str() != "old" || c.Wanted.Str() != "new" {
			t.Errorf("%v has a conflict on %v: %v, wanted %v", c.Owner.Manager, c.Path, c.Live, c.Wanted)
		}
	}
	if len(conflicts) != len(want) {
		t.Errorf("%d conflicts, want %d", len(conflicts), len(want))
	}
	if conversions["v1"] != 0 || conversions["v2"] != 2 {
		t.Errorf("converted to %v, want twice to v2 alone", conversions)
	}
	for e := range plan.Force().Managers.All() {
		if e.Fields.Has(fieldpath.Path{fieldpath.Field(e.APIVersion)}) != (e.Manager.Name == "alpha") {
			t.Errorf("%v owns %v", e.Manager, e.Fields)
		}
	}
}

// If an error has room for some conflicts only, these are the conflicts of the first versions: the request's own, and then the versions of
// the owners in the order of managers.
func TestFirstConflictsAreThoseOfTheFirstVersions(t *testing.T) {
	plan, err := merge.New(merge.Config{Converter: renaming{}}).Apply(merge.Request{
		Live: typedOf(t, schema.Deduced, `{"v1":"old"}`), Object: typedOf(t, schema.Deduced, `{"v1":"new"}`),
		Manager: merge.Manager{Name: "alpha", Operation: merge.Apply}, APIVersion: "v1",
		Managers: merge.ManagersOf(owner("b", "v2", "v2"), owner("c", "v3", "v3"), owner("d", "v1", "v1"), owner("e", "v2", "v2")),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		conflicts, more := merge.FirstConflicts(plan, 2)
		if len(conflicts) != 2 || more != 2 || conflicts[0].Owner.Manager.Name != "b" || conflicts[1].Owner.Manager.Name != "d" {
			t.Fatalf("got %v and %d more, want those of b and d", conflicts, more)
		}
	}
}

// A path that the applier owned in its last version, and that leads nowhere, is decided about only if it is of the request's version.
func TestDecisionsLeaveOutPathsOfFormerVersions(t *testing.T) {
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	for _, last := range []string{"v1", "v2"} {
		plan, err := merge.New(merge.Config{Converter: renaming{}}).Apply(merge.Request{
			Live: typedOf(t, schema.Deduced, `{"a":1}`), Object: typedOf(t, schema.Deduced, `{"a":1}`), Manager: alpha, APIVersion: "v1",
			Managers: merge.ManagersOf(merge.Entry{Manager: alpha, APIVersion: last, Fields: fieldsOf("a", "b")}),
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for d := range plan.Decisions() {
			got += d.Path.String() + " " + d.Outcome.String() + ";"
		}
		if want := map[string]string{"v1": ".a kept;.b released;", "v2": ".a kept;"}[last]; got != want {
			t.Errorf("last applied in %s: decided %s, want %s", last, got, want)
		}
	}
}

// An applier that comes from another version loses what that version cannot express, even if nobody else owns anything and it gives
// up nothing; one that stays in its version is pruned without a conversion.
func TestPruningGoesThroughTheVersionThatWasAppliedLast(t *testing.T) {
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	for last, want := range map[string]string{"v1": `{"a":1,"only1":1}`, "v2": `{"a":1}`} {
		for _, owned := range [][]string{{"a"}, {"a", "b"}} {
			plan, err := merge.New(merge.Config{Converter: forgetful{}}).Apply(merge.Request{
				Live:   typedOf(t, schema.Deduced, `{"a":1,"b":1}`).Remove(fieldsOf("b").Minus(fieldsOf(owned...))),
				Object: typedOf(t, schema.Deduced, `{"a":1,"only1":1}`), Manager: alpha, APIVersion: "v1",
				Managers: merge.ManagersOf(merge.Entry{Manager: alpha, APIVersion: last, Fields: fieldsOf(owned...)}),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := merging.Object(plan).Content().String(); got != want || merging.Detour(plan) != (last == "v2") {
				t.Errorf("%v last applied in %s: %s, by a detour: %t; want %s", owned, last, got, merging.Detour(plan), want)
			}
		}
	}
}

// vanished has no version v2.
type vanished struct{}

func (vanished) Convert(v typed.Value, to string) (typed.Value, error) {
	if to == "v2" {
		return typed.Value{}, errors.Join(merge.ErrNoVersion)
	}
	return v, nil
}

// Managers of a version that is gone lose all that they own, the applier itself included.
func TestManagersOfVersionsThatAreGone(t *testing.T) {
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	plan, err := merge.New(merge.Config{Converter: vanished{}}).Apply(merge.Request{
		Live: typedOf(t, schema.Deduced, `{"a":1,"b":1}`), Object: typedOf(t, schema.Deduced, `{"a":2}`), Manager: alpha, APIVersion: "v1",
		Managers: merge.ManagersOf(owner("b", "v1", "b"), owner("c", "v2", "a"), merge.Entry{Manager: alpha, APIVersion: "v2", Fields: fieldsOf("b")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Conflicts(); got != nil {
		t.Errorf("conflicts %v", got)
	}
	want := merge.ManagersOf(owner("b", "v1", "b"), merge.Entry{Manager: alpha, APIVersion: "v1", Fields: fieldsOf("a")})
	if got := plan.Force(); !merging.Equal(got.Managers, want) || got.Object.Content().String() != `{"a":2,"b":1}` {
		t.Errorf("%v\n%s", got.Object.Content(), show(got.Managers))
	}
	for d := range plan.Decisions() {
		if d.Outcome != merge.Set || d.Path.String() != ".a" || len(d.Before) > 0 {
			t.Errorf("%v is %v, and was owned by %v", d.Path, d.Outcome, d.Before)
		}
	}
}

// fading has no version v2 of objects with the field extra.
type fading struct{}

func (fading) Convert(v typed.Value, to string) (typed.Value, error) {
	if to == "v2" && !v.Content().Get("extra").IsAbsent() {
		return typed.Value{}, merge.ErrNoVersion
	}
	return v, nil
}

// A manager whose version is gone for the new object, though not for the live one, loses all that it owns, without a conflict.
func TestManagersOfVersionsThatGo(t *testing.T) {
	r := merge.Request{
		Live: typedOf(t, schema.Deduced, `{"a":1,"b":1}`), Object: typedOf(t, schema.Deduced, `{"a":2,"b":1,"extra":1}`), APIVersion: "v1",
		Managers: merge.ManagersOf(owner("b", "v1", "b"), owner("c", "v2", "a", "b")),
	}
	e := merge.New(merge.Config{Converter: fading{}})
	r.Manager = owner("d", "v1").Manager
	updated, err := e.Update(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := merge.ManagersOf(owner("b", "v1", "b"), owner("d", "v1", "a", "extra")); !merging.Equal(updated.Managers, want) {
		t.Errorf("after an update:\n%s", show(updated.Managers))
	}
	r.Manager = merge.Manager{Name: "d", Operation: merge.Apply}
	plan, err := e.Apply(r)
	if err != nil {
		t.Fatal(err)
	}
	applied := owner("d", "v1", "a", "b", "extra")
	applied.Manager = r.Manager
	if got, want := plan.Force().Managers, merge.ManagersOf(owner("b", "v1", "b"), applied); plan.Conflicts() != nil || !merging.Equal(got, want) {
		t.Errorf("conflicts %v; after an apply:\n%s", plan.Conflicts(), show(got))
	}
}
