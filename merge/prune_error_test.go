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

// lacksExtra converts all objects but those that have the field extra, which only one version knows.
type lacksExtra struct{}

func (lacksExtra) Convert(v typed.Value, apiVersion string) (typed.Value, error) {
	if !v.Content().Get("extra").IsAbsent() {
		return typed.Value{}, errors.New(".extra: field not declared in schema")
	}
	return v, nil
}

// TestOutcomeUnknownToVersion shows which step fails when a manager's version cannot express the outcome: pruning, if the
// applier owned something before, even though it gives nothing up, and finding conflicts otherwise.
func TestOutcomeUnknownToVersion(t *testing.T) {
	object := func(text string) typed.Value {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := typed.New(v, schema.Deduced)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	alice := merge.Manager{Name: "alice", Operation: merge.Apply}
	bob := merge.Entry{
		Manager: merge.Manager{Name: "bob", Operation: merge.Update, APIVersion: "v1"}, APIVersion: "v1",
		Fields: fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}),
	}
	before := merge.Entry{Manager: alice, APIVersion: "v2", Fields: fieldpath.SetOf(fieldpath.Path{fieldpath.Field("extra")})}
	for _, c := range []struct {
		managers merge.Managers
		want     string
	}{
		{merge.ManagersOf(bob), "failed to convert new object: .extra: field not declared in schema"},
		{merge.ManagersOf(bob, before), "failed to prune fields: failed add back owned items: " +
			"failed to convert merged object at version v1: .extra: field not declared in schema"},
	} {
		_, err := merge.New(merge.Config{Converter: lacksExtra{}}).Apply(merge.Request{
			Live: object(`{"a":1}`), Object: object(`{"extra":1}`), Managers: c.managers, Manager: alice, APIVersion: "v2",
		})
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// TestNoRequest applies and updates nothing, with no engine and with one of nothing, and decides about no plan.
func TestNoRequest(t *testing.T) {
	null, err := typed.New(value.Null(), schema.Deduced)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*merge.Engine{nil, {}, merge.New(merge.Config{})} {
		for _, r := range []merge.Request{{}, {Live: null}, {Object: null}} {
			if plan, err := e.Apply(r); !errors.Is(err, typed.ErrTypes) || plan != nil {
				t.Errorf("the apply of %v gives %v (%v)", r, plan, err)
			}
			if result, err := e.Update(r); !errors.Is(err, typed.ErrTypes) {
				t.Errorf("the update of %v gives %v (%v)", r, result, err)
			}
		}
		plan, err := e.Apply(merge.Request{Live: null, Object: null})
		if err != nil || plan.Force().Changed {
			t.Errorf("the apply of null to null changes %v (%v)", plan, err)
		}
	}
	for _, p := range []*merge.Plan{nil, {}} {
		for d := range p.Decisions() {
			t.Errorf("no plan decides %v", d)
		}
		if r := p.Force(); p.Conflicts() != nil || r.Changed || r.Object.Type() != nil {
			t.Errorf("no plan has the conflicts %v and the result %v", p.Conflicts(), r)
		}
	}
}
