package merge_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

const defaultedKey = `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{"elementType":{"map":{"fields":[
	{"name":"k","type":{"scalar":"string"},"default":""}]}},"elementRelationship":"associative","keys":["k"]}}}]}}]}`

func typeOf(t *testing.T, text string) *schema.Type {
	t.Helper()
	d, err := schema.ParseDocument(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := s["root"]
	if !ok {
		t.Fatal("no type root")
	}
	return root
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func typedOf(t *testing.T, root *schema.Type, text string) typed.Value {
	t.Helper()
	v, err := typed.New(parse(t, text), root)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An applier of an empty item, which owns not even its key, loses the item by applying it again.
func TestItemsOwnedWithoutTheirKeysArePruned(t *testing.T) {
	root := typeOf(t, defaultedKey)
	fields, err := fieldpath.ParseSet([]byte(`{"f:l":{"k:{\"k\":\"\"}":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	for config, want := range map[string]string{
		`{"l":[{},{"k":"z"}]}`:       `{"l":[{"k":"z"}]}`,
		`{"l":[{"k":""},{"k":"z"}]}`: `{"l":[{"k":""},{"k":"z"}]}`,
	} {
		plan, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: typedOf(t, root, `{"l":[{"k":""}]}`), Object: typedOf(t, root, config), Manager: alpha, APIVersion: "v1",
			Managers: merge.ManagersOf(merge.Entry{Manager: alpha, Fields: fields, APIVersion: "v1"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := merging.Object(plan).Content().String(); got != want {
			t.Errorf("%s gave %s, want %s", config, got, want)
		}
	}
}

// forgetful converts to version v2, which does not know the field only1.
type forgetful struct{}

func (forgetful) Convert(v typed.Value, apiVersion string) (typed.Value, error) {
	if apiVersion != "v2" {
		return v, nil
	}
	return typed.New(v.Content().With("only1", value.Value{}), v.Type())
}

// An applier loses what a version that somebody else writes in cannot express, even if it applies that again.
func TestFieldsThatAnotherVersionForgetsArePruned(t *testing.T) {
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	beta := merge.Manager{Name: "beta", Operation: merge.Update, APIVersion: "v2"}
	const content = `{"a":1,"only1":1}`
	live, root := typedOf(t, schema.Deduced, content), schema.Deduced
	for version, want := range map[string]string{"v1": content, "v2": `{"a":1}`} {
		plan, err := merge.New(merge.Config{Converter: forgetful{}}).Apply(merge.Request{
			Live: live, Object: typedOf(t, root, content), Manager: alpha, APIVersion: "v1",
			Managers: merge.ManagersOf(
				merge.Entry{Manager: alpha, Fields: live.Fields(), APIVersion: "v1"},
				merge.Entry{Manager: beta, Fields: fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}), APIVersion: version}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := merging.Object(plan).Content().String(); got != want {
			t.Errorf("with an owner in %s: got %s, want %s", version, got, want)
		}
	}
}

const emptyLists = `{"types":[{"name":"root","map":{"fields":[{"name":"spec","type":{"map":{"fields":[
	{"name":"n","type":{"scalar":"numeric"}},
	{"name":"l","type":{"list":{"elementType":{"map":{"fields":[{"name":"k","type":{"scalar":"string"}}]}},
		"elementRelationship":"associative","keys":["k"]}}}]}}}]}}]}`

// An object that is applied empty, again, goes with all that nobody owns in it if nothing is left that has a path.
func TestObjectsAppliedEmptyArePruned(t *testing.T) {
	root := typeOf(t, emptyLists)
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	fields := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("spec")})
	for _, c := range []struct{ live, config, want string }{
		{`{"spec":{"l":[],"n":1}}`, `{"spec":{}}`, `null`},
		{`{"spec":{"l":[],"n":1}}`, `{"spec":null}`, `null`},
		{`{"spec":{"l":[{"k":"a"}],"n":1}}`, `{"spec":{}}`, `{"spec":{"l":[{"k":"a"}],"n":1}}`},
		{`{"spec":{"l":[{"k":"a"}],"n":1}}`, `{"spec":null}`, `{"spec":{"l":[{"k":"a"}],"n":1}}`},
		{`{"spec":{"n":1}}`, `{"spec":{}}`, `{"spec":{"n":1}}`},
		{`{"spec":{}}`, `{"spec":{}}`, `{"spec":{}}`},
	} {
		plan, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: typedOf(t, root, c.live), Object: typedOf(t, root, c.config), Manager: alpha, APIVersion: "v1",
			Managers: merge.ManagersOf(merge.Entry{Manager: alpha, Fields: fields, APIVersion: "v1"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := merging.Object(plan).Content().String(); got != c.want {
			t.Errorf("%s applied to %s gave %s, want %s", c.config, c.live, got, c.want)
		}
	}
}

// The example in the comment of prune holds, step by step.
func TestPruningStepByStep(t *testing.T) {
	v, err := value.Parse([]byte(`{"types":[{"name":"root","map":{"fields":[{"name":"spec","type":{"map":{"elementType":{"scalar":"numeric"}}}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root := compiled["root"]
	object := func(text string) typed.Value {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := typed.New(v, root)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	named := func(s fieldpath.Set) fieldpath.Set { return typing.WithNamedFields(s, root) }
	merged, own := object(`{"spec":{"a":1,"b":1,"c":1}}`), object(`{"spec":{"b":1}}`)
	last := object(`{"spec":{"a":1,"b":1}}`).Fields()
	left := func(away fieldpath.Set, want string) typed.Value {
		t.Helper()
		out := merged.Remove(away)
		if got := out.Content().String(); got != want {
			t.Errorf("without %v there is %s left, want %s", away, got, want)
		}
		return out
	}
	missing := func(p typed.Value) fieldpath.Set { return named(merged.Fields()).Minus(named(p.Fields())) }
	one := left(named(last), `null`)
	two := left(missing(one).Minus(named(own.Fields())), `{"spec":{"b":1}}`)
	left(missing(two).Intersect(named(last)), `{"spec":{"b":1,"c":1}}`)

	applier := merge.Manager{Name: "applier", Operation: merge.Apply}
	plan, err := merge.New(merge.Config{}).Apply(merge.Request{
		Live: merged, Object: own, APIVersion: "v1", Manager: applier,
		Managers: merge.ManagersOf(merge.Entry{Manager: applier, APIVersion: "v1", Fields: last}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := merging.Object(plan).Content().String(); got != `{"spec":{"b":1,"c":1}}` {
		t.Errorf("the apply leaves %s", got)
	}
}
