package merge_test

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// envType is an object with a keyed list called env.
func envType(t *testing.T) *schema.Type {
	t.Helper()
	v, err := value.Parse([]byte(`{"types":[{"name":"root","map":{"fields":[{"name":"env","type":{"list":{
		"elementRelationship":"associative","keys":["name"],"elementType":{"map":{"fields":[
			{"name":"name","type":{"scalar":"string"}},{"name":"value","type":{"scalar":"string"}}]}}}}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root := s["root"]
	return root
}

// envOf returns an object with n items of this value.
func envOf(t *testing.T, root *schema.Type, n int, text string) typed.Value {
	t.Helper()
	items := make([]value.Value, n)
	for i := range items {
		items[i] = value.Object(value.Member{Name: "name", Value: value.String(fmt.Sprintf("n%05d", i))},
			value.Member{Name: "value", Value: value.String(text)})
	}
	v, err := typed.New(value.Object(value.Member{Name: "env", Value: value.List(items...)}), root)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// conflicting plans an apply that changes n items, which somebody else owns.
func conflicting(t *testing.T, root *schema.Type, n int) *merge.Plan {
	t.Helper()
	live := envOf(t, root, n, "old")
	owner := merge.Entry{Manager: merge.Manager{Name: "owner", Operation: merge.Apply}, APIVersion: "v1", Fields: live.Fields()}
	plan, err := merge.New(merge.Config{}).Apply(merge.Request{
		Live: live, Object: envOf(t, root, n, "new"), Managers: merge.ManagersOf(owner), APIVersion: "v1",
		Manager: merge.Manager{Name: "applier", Operation: merge.Apply},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// What a plan says of n conflicts costs n, not n times a search of the list.
func TestPlansAreReadInLinearTime(t *testing.T) {
	root := envType(t)
	for _, c := range []struct {
		name string
		read func(*merge.Plan) int
	}{
		{"conflicts", func(p *merge.Plan) int { return len(p.Conflicts()) }},
		{"decisions", func(p *merge.Plan) int {
			n := 0
			for d := range p.Decisions() {
				if d.Outcome == merge.Conflicting {
					n++
				}
			}
			return n
		}},
	} {
		count := func(n int) (nodes, pairs int) {
			plan := conflicting(t, root, n)
			counted := work.Record(func() {
				if got := c.read(plan); got != n {
					t.Errorf("%d %s, want %d", got, c.name, n)
				}
			})
			return counted.Nodes, counted.Pairs
		}
		one, few := count(500)
		four, many := count(2000)
		if one == 0 || four > 4*one+one/10 {
			t.Errorf("%s: %d nodes are visited for 500 conflicts, and %d for 2,000", c.name, one, four)
		}
		if few < 500 || many > 4*few+few/10 {
			t.Errorf("%s: %d elements are compared for 500 conflicts, and %d for 2,000: what is in step is searched for", c.name, few, many)
		}
	}
}

// Whether owners are told apart by version is not a matter of the version's name: whoever has the path is an owner.
func TestDecisionsSeeOwnersOfOtherVersions(t *testing.T) {
	root := envType(t)
	live := envOf(t, root, 1, "old")
	owner := merge.Entry{Manager: merge.Manager{Name: "owner", Operation: merge.Apply}, APIVersion: "v1", Fields: live.Fields()}
	plan, err := merge.New(merge.Config{}).Apply(merge.Request{
		Live: live, Object: envOf(t, root, 1, "new"), Managers: merge.ManagersOf(owner), APIVersion: "v2",
		Manager: merge.Manager{Name: "applier", Operation: merge.Apply},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]merge.Outcome{}
	for d := range plan.Decisions() {
		got[d.Path.String()] = d.Outcome
		if d.APIVersion != "v2" || len(d.Before) != 1 || d.Before[0] != owner.Manager {
			t.Errorf("%+v, want it of v2, owned by owner before", d)
		}
	}
	item := fieldpath.Path{fieldpath.Field("env"), fieldpath.Key(fieldpath.KeyField{Name: "name", Value: value.String("n00000")})}.String()
	for path, want := range map[string]merge.Outcome{item: merge.Shared, item + ".name": merge.Shared, item + ".value": merge.Conflicting} {
		if got[path] != want {
			t.Errorf("%s is %v, want %v", path, got[path], want)
		}
	}
}

// countedVersions converts objects of type root to any version by changing nothing, and counts how often.
type countedVersions struct{ n *int }

func (c countedVersions) Convert(v typed.Value, _ string) (typed.Value, error) {
	*c.n++
	return v, nil
}

// manyOwners returns a request that changes n items, each of which somebody else owns, in so many versions.
func manyOwners(t *testing.T, root *schema.Type, n, versions int) merge.Request {
	t.Helper()
	live := envOf(t, root, n, "old")
	var entries []merge.Entry
	_, items := live.Fields().Get(fieldpath.Field("env"))
	for e := range items.Entries() {
		path := fieldpath.Path{fieldpath.Field("env"), e.Element, fieldpath.Field("value")}
		version := fmt.Sprint("v", len(entries)%versions)
		entries = append(entries, merge.Entry{
			Manager:    merge.Manager{Name: fmt.Sprint("owner", len(entries)), Operation: merge.Update, APIVersion: version},
			APIVersion: version, Fields: fieldpath.SetOf(path),
		})
	}
	return merge.Request{
		Live: live, Object: envOf(t, root, n, "new"), Managers: merge.ManagersOf(entries...), APIVersion: "v0",
		Manager: merge.Manager{Name: "writer", Operation: merge.Apply},
	}
}

// A write costs what its owners own together, not the number of owners times the number of fields.
func TestManyOwners(t *testing.T) {
	root := envType(t)
	for _, c := range []struct {
		name  string
		write func(*merge.Engine, merge.Request) (merge.Managers, error)
	}{
		{"update", func(e *merge.Engine, r merge.Request) (merge.Managers, error) {
			result, err := e.Update(r)
			return result.Managers, err
		}},
		{"apply", func(e *merge.Engine, r merge.Request) (merge.Managers, error) {
			plan, err := e.Apply(r)
			if err != nil {
				return merge.Managers{}, err
			}
			for range plan.Decisions() {
			}
			plan.Conflicts()
			return plan.Force().Managers, nil
		}},
		{"apply that prunes", func(e *merge.Engine, r merge.Request) (merge.Managers, error) {
			r.Managers = merging.With(r.Managers, merge.Entry{Manager: r.Manager, APIVersion: r.APIVersion, Fields: r.Live.Fields()})
			r.Object = envOf(t, root, 1, "new")
			plan, err := e.Apply(r)
			if err != nil {
				return merge.Managers{}, err
			}
			return plan.Force().Managers, nil
		}},
	} {
		conversions := 0
		engine := merge.New(merge.Config{Converter: countedVersions{&conversions}})
		count := func(n int) int {
			conversions = 0
			request := manyOwners(t, root, n, 2)
			counts := work.Record(func() {
				if _, err := c.write(engine, request); err != nil {
					t.Fatal(err)
				}
			})
			return counts.Nodes + counts.Steps + counts.Elements
		}
		one := count(250)
		converted := conversions
		four := count(1000)
		if limit := 4*one + 4*one/4; one == 0 || four > limit {
			t.Errorf("%s: %d nodes are passed with 250 owners, and %d with 1,000", c.name, one, four)
		}
		if converted != conversions {
			t.Errorf("%s: %d conversions with 250 owners, and %d with 1,000", c.name, converted, conversions)
		}
	}
}

// What many managers lose is what each of them loses by itself.
func TestManyOwnersLoseAsFewDo(t *testing.T) {
	root := envType(t)
	engine := merge.New(merge.Config{})
	request := manyOwners(t, root, 100, 3)
	request.Object = envOf(t, root, 60, "new") // 40 items go
	together, err := engine.Update(request)
	if err != nil {
		t.Fatal(err)
	}
	all := request.Managers
	for e := range all.All() {
		request.Managers = merge.ManagersOf(e)
		alone, err := engine.Update(request)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := together.Managers.Get(e.Manager)
		want, wanted := alone.Managers.Get(e.Manager)
		if ok != wanted || !got.Fields.Equal(want.Fields) {
			t.Errorf("%v is left with %v, %v, and by itself with %v, %v", e.Manager, got.Fields, ok, want.Fields, wanted)
		}
	}
}
