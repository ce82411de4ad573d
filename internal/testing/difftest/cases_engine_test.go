package difftest

import (
	"errors"
	"strings"
	"testing"

	smdmerge "sigs.k8s.io/structured-merge-diff/v4/merge"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// orderOfConflicts: two managers own one field.
func orderOfConflicts(t *testing.T) (string, string) {
	w, err := newWorld(&gen.Schema{Document: &schema.Document{Types: append(schemas.DeducedTypes(), schema.TypeDef{
		Name: "root", Atom: schema.Atom{Map: &schema.MapDef{ElementType: schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}}},
	})}, Versions: []gen.Version{{Name: "v1", Root: "root"}}})
	if err != nil {
		t.Fatal(err)
	}
	var deedOrder, smdOrder []string
	deed, smd := w.start(nil)
	for i, m := range []string{"m1", "m2", "m3"} {
		write := gen.Write{
			Manager: merge.Manager{Name: m, Operation: merge.Apply}, Operation: merge.Apply, Version: "v1",
			Object: value.Object(value.Member{Name: "a", Value: value.Int(int64(i / 2))}),
		}
		if m == "m3" {
			deedOrder, smdOrder = conflictOrder(t, deed, smd, write)
			break
		}
		deed.step(write)
		smd.step(write)
	}
	return strings.Join(deedOrder, " "), strings.Join(smdOrder, " ")
}

// conflictOrder returns the managers that w conflicts with, in the order of each engine.
func conflictOrder(t *testing.T, deed *deedRun, smd *smdRun, w gen.Write) (deedOrder, smdOrder []string) {
	t.Helper()
	var conflicts merge.Conflicts
	var smdConflicts smdmerge.Conflicts
	if !errors.As(deed.write(w), &conflicts) || !errors.As(smd.write(w), &smdConflicts) {
		t.Fatal("no conflict")
	}
	for _, c := range conflicts {
		deedOrder = append(deedOrder, c.Owner.Manager.Name)
	}
	for _, c := range smdConflicts {
		smdOrder = append(smdOrder, managerOf(c.Manager).Name)
	}
	return deedOrder, smdOrder
}

// resetFieldsOfOneVersion: there are reset fields, but not for the version of the request.
func resetFieldsOfOneVersion(t *testing.T) (string, string) {
	filters := map[string]gen.Filter{"v1": {Exclude: []fieldpath.Path{{fieldpath.Field("a")}}}}
	w, err := newWorld(&gen.Schema{
		Document: &schema.Document{Types: schemas.DeducedTypes()},
		Versions: []gen.Version{{Name: "v2", Root: schema.DeducedName}},
	})
	if err != nil {
		t.Fatal(err)
	}
	deed, smd := w.start(filters)
	write := gen.Write{
		Manager: merge.Manager{Name: "m1", Operation: merge.Apply}, Operation: merge.Apply, Version: "v2", Object: parsed(`{"b":1}`),
	}
	short := func(o outcome) string {
		switch {
		case strings.HasPrefix(o.err, "panic"):
			return "panic"
		case o.err != "":
			return "error"
		}
		return "ok"
	}
	return short(deed.step(write)), short(smd.step(write))
}

// versionsInPruning: an item of a list is pruned, managers own fields in two more versions, and the list is atomic in one of them.
func versionsInPruning(t *testing.T) (string, string) {
	root := func(name, relationship string) string {
		return `{"name":"` + name + `","map":{"elementType":{"scalar":"string"},"fields":[{"name":"d","type":{"list":{
			"elementRelationship":"` + relationship + `","elementType":{"scalar":"untyped"}}}}]}}`
	}
	d, err := schema.ParseDocument(parsed(`{"types":[` + root("one", "associative") + "," + root("two", "associative") + "," + root("three", "atomic") + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(&gen.Schema{Document: d, Versions: []gen.Version{{Name: "v1", Root: "one"}, {Name: "v2", Root: "two"}, {Name: "v3", Root: "three"}}})
	if err != nil {
		t.Fatal(err)
	}
	m1 := merge.Manager{Name: "m1", Operation: merge.Apply}
	m2 := merge.Manager{Name: "m2", Operation: merge.Update, APIVersion: "v3"}
	deed, smd := w.start(nil)
	var got, want outcome
	for _, write := range []gen.Write{
		{Manager: m1, Operation: merge.Apply, Version: "v1", Object: parsed(`{"d":[1,"y"]}`)},
		{Manager: m2, Operation: merge.Update, Version: "v3", Object: parsed(`{"a":"x","d":[1,"y"]}`)},
		{Manager: m1, Operation: merge.Apply, Version: "v2", Object: parsed(`{"d":["y"]}`), Force: true},
	} {
		got, want = deed.step(write), smd.step(write)
	}
	return parsed(got.object).Get("d").String(), parsed(want.object).Get("d").String()
}
