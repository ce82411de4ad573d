package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/model"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// live is an object that random writes are made to, in one version.
type live struct {
	engine   *merge.Engine
	typ      *schema.Type
	object   typed.Value
	managers merge.Managers
	defaults bool // the schema has keys with defaults
}

// request prepares w. It reports whether the engine is to see it: its object must be valid.
func (l *live) request(w gen.Write) (merge.Request, bool) {
	var opts []typed.Option
	if w.Operation == merge.Update {
		opts = append(opts, typed.AllowDuplicates)
	}
	object, err := typed.New(w.Object, l.typ, opts...)
	return merge.Request{Live: l.object, Object: object, Managers: l.managers, Manager: w.Manager, APIVersion: w.Version}, err == nil
}

// accept makes r the object. Pruning may have left items without keys, and then it is no object any more.
func (l *live) accept(t *testing.T, r merge.Result) bool {
	t.Helper()
	object, err := typed.New(r.Object.Content(), l.typ, typed.AllowDuplicates)
	if err != nil {
		return false
	}
	l.object, l.managers = object, r.Managers
	return true
}

// eachWrite runs random histories in one version, and calls visit with every write that the engine is to see, before it is
// made. visit returns the result, and false when the write is refused.
func eachWrite(t *testing.T, n int, visit func(l *live, r merge.Request, w gen.Write) (merge.Result, bool)) {
	t.Helper()
	for seed := range seeds.Each(t, n) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		s.Versions = s.Versions[:1]
		compiled, err := schema.Compile(s.Document)
		if err != nil {
			t.Fatal(err)
		}
		root := compiled[s.Versions[0].Root]
		l := &live{engine: merge.New(merge.Config{}), typ: root, object: typing.Empty(root)}
		l.defaults = strings.Contains(s.Document.Value().String(), `"default"`)
		s.Versions = append(s.Versions, s.Versions[0])
		writer := gen.NewWriter(c, s, map[string]*schema.Type{s.Versions[0].Name: root})
		for i := range 10 {
			w := writer.Next(l.object.Content(), s.Versions[0].Name)
			request, ok := l.request(w)
			if !ok {
				continue
			}
			result, ok := visit(l, request, w)
			if t.Failed() {
				t.Fatalf("seed %d, write %d by %v of %v\nlive %v\nmanagers\n%sschema %v",
					seed, i, w.Manager, w.Object, l.object.Content(), show(l.managers), s.Document.Value())
			}
			if ok && !l.accept(t, result) {
				break
			}
		}
	}
}

func show(ms merge.Managers) string {
	out := ""
	for e := range ms.All() {
		out += fmt.Sprintf("  %v %s\n", e.Manager, e.Fields.AppendJSON(nil))
	}
	return out
}

// ownersOf returns ms as the model has them.
func ownersOf(ms merge.Managers) map[merge.Manager]model.Set {
	out := map[merge.Manager]model.Set{}
	for e := range ms.All() {
		out[e.Manager] = model.SetOf(e.Fields)
	}
	return out
}

// The engine answers as the naive model does.
func TestEngineIsModel(t *testing.T) {
	eachWrite(t, 400, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		before := model.State{Live: l.object, Owners: ownersOf(l.managers)}
		var want model.State
		var result merge.Result
		var wantErr, err error
		refused := false
		if w.Operation == merge.Update {
			want, wantErr = before.Update(w.Manager, r.Object)
			result, err = l.engine.Update(r)
		} else {
			var taken map[merge.Manager]model.Set
			want, taken, wantErr = before.Apply(w.Manager, r.Object)
			var plan *merge.Plan
			if plan, err = l.engine.Apply(r); err == nil {
				result = plan.Force()
				refused = !w.Force && len(plan.Conflicts()) > 0
				sameConflicts(t, plan.Conflicts(), taken)
				if few, many := merge.ConflictsBothWays(plan); fmt.Sprintf("%+v", few) != fmt.Sprintf("%+v", many) {
					t.Errorf("conflicts %+v found one by one, %+v together", few, many)
				}
			}
		}
		if (err == nil) != (wantErr == nil) {
			t.Errorf("error %v, want %v", err, wantErr)
		}
		if err != nil {
			return result, false
		}
		if !result.Object.Content().Equal(want.Live.Content()) {
			t.Errorf("object %v, want %v", result.Object.Content(), want.Live.Content())
		}
		sameOwners(t, result.Managers, want.Owners)
		return result, !refused
	})
}

func sameOwners(t *testing.T, got merge.Managers, want map[merge.Manager]model.Set) {
	t.Helper()
	if merging.Len(got) != len(want) {
		t.Errorf("%d managers, want %d", merging.Len(got), len(want))
	}
	for e := range got.All() {
		if fields := want[e.Manager].Fields(); !e.Fields.Equal(fields) {
			t.Errorf("%v owns %s, want %s", e.Manager, e.Fields.AppendJSON(nil), fields.AppendJSON(nil))
		}
	}
}

func sameConflicts(t *testing.T, got merge.Conflicts, want map[merge.Manager]model.Set) {
	t.Helper()
	sets := map[merge.Manager]*fieldpath.Builder{}
	for _, c := range got {
		if sets[c.Owner.Manager] == nil {
			sets[c.Owner.Manager] = new(fieldpath.Builder)
		}
		sets[c.Owner.Manager].Add(c.Path)
	}
	if len(sets) != len(want) {
		t.Errorf("conflicts with %d managers, want %d", len(sets), len(want))
	}
	for m, b := range sets {
		if set := b.Set(); !set.Equal(want[m].Fields()) {
			t.Errorf("conflicts with %v about %v, want %v", m, set, want[m].Fields())
		}
	}
}
