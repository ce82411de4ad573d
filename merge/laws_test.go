package merge_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// made makes w, conflicts forced, and returns the result.
func made(t *testing.T, l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
	t.Helper()
	if w.Operation == merge.Update {
		result, err := l.engine.Update(r)
		return result, err == nil
	}
	plan, err := l.engine.Apply(r)
	if err != nil {
		return merge.Result{}, false
	}
	return plan.Force(), true
}

// Applying the same again changes nothing, except that it brings back the empty objects and lists that pruning has taken
// away or made null, at the cost of who owns null there. Then the third time changes nothing. Items that nothing but
// defaults identifies are not protected from pruning, so schemas with defaults are left out.
func TestApplyAgain(t *testing.T) {
	eachWrite(t, 600, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		once, ok := made(t, l, r, w)
		if !ok || w.Operation == merge.Update || l.defaults {
			return once, ok
		}
		twice, ok := repeat(l, r, once)
		if !ok {
			return once, true // pruning left items without identity
		}
		if !stripped(once.Object.Content()).Equal(stripped(twice.Object.Content())) {
			t.Errorf("once\n%v\n%stwice\n%v\n%s", once.Object.Content(), show(once.Managers), twice.Object.Content(), show(twice.Managers))
		}
		thrice, ok := repeat(l, r, twice)
		if !ok || thrice.Changed || !typing.Same(thrice.Object, twice.Object) || !merging.Equal(thrice.Managers, twice.Managers) {
			t.Errorf("twice\n%v\n%sthrice\n%v\n%s", twice.Object.Content(), show(twice.Managers), thrice.Object.Content(), show(thrice.Managers))
		}
		return once, true
	})
}

// repeat makes the write r again after it had result.
func repeat(l *live, r merge.Request, result merge.Result) (merge.Result, bool) {
	r.Live, r.Managers = result.Object, result.Managers
	plan, err := l.engine.Apply(r)
	if err != nil {
		return merge.Result{}, false
	}
	return plan.Force(), true
}

// stripped returns v without the members that hold nothing.
func stripped(v value.Value) value.Value {
	var items []value.Value
	for item := range v.Items() {
		items = append(items, stripped(item))
	}
	if items != nil {
		return value.List(items...)
	}
	for name, member := range v.Members() {
		member = stripped(member)
		if member.IsNull() || (member.Kind() == value.KindObject || member.Kind() == value.KindList) && member.Len() == 0 {
			member = value.Value{}
		}
		v = v.With(name, member)
	}
	if v.IsNull() || v.Kind() == value.KindList {
		return value.Object()
	}
	return v
}

// Nobody else owns afterwards what a forced apply or an update has changed, and nobody at all what is gone.
func TestChangesHaveOneOwner(t *testing.T) {
	eachWrite(t, 300, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		result, ok := made(t, l, r, w)
		if !ok {
			return result, ok
		}
		diff, err := typed.Compare(r.Live, result.Object)
		if err != nil {
			return result, ok
		}
		for e := range result.Managers.All() {
			changed := diff.Added.Union(diff.Modified).Union(diff.Removed)
			if shared := e.Fields.Intersect(changed); e.Manager != w.Manager && !shared.IsEmpty() {
				t.Errorf("%v still owns %v", e.Manager, shared)
			}
		}
		return result, ok
	})
}

// An updater that writes under another name, to be united with its former entry, comes to own the same as if that entry had lost
// what it gets back; all others own the same.
func TestFormerEntry(t *testing.T) {
	stands := merge.Manager{Name: "stand-in"}
	united := func(result merge.Result, former merge.Manager) merge.Managers {
		own, _ := result.Managers.Get(stands)
		e, _ := result.Managers.Get(former)
		e.Manager, e.Fields = former, e.Fields.Union(own.Fields)
		return merging.With(merging.Without(result.Managers, stands), e)
	}
	spared := 0
	eachWrite(t, 300, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		if w.Operation == merge.Apply {
			return made(t, l, r, w)
		}
		usual := r
		merging.Former(&r, w.Manager)
		r.Manager = stands
		engine := merge.New(merge.Config{Unowned: everyThird(r.Object)})
		got, err := engine.Update(r)
		merging.Former(&r, merge.Manager{})
		want, wantErr := engine.Update(r)
		if err != nil || wantErr != nil {
			if (err == nil) != (wantErr == nil) {
				t.Errorf("error %v, want %v", err, wantErr)
			}
			return made(t, l, usual, w)
		}
		if got, want := united(got, w.Manager), united(want, w.Manager); show(got) != show(want) {
			t.Errorf("got\n%swant\n%s", show(got), show(want))
		}
		if show(got.Managers) != show(want.Managers) {
			spared++
		}
		return made(t, l, usual, w)
	})
	if spared == 0 {
		t.Error("no former entry was ever spared")
	}
}

// everyThird returns every third field of v.
func everyThird(v typed.Value) fieldpath.Set {
	var b fieldpath.Builder
	n := 0
	for path := range v.Fields().All() {
		if n++; n%3 == 0 {
			b.Add(path)
		}
	}
	return b.Set()
}

// Config.Unowned takes fields from the writer: from an applier all of them, from an updater those that the update changes. All
// else is the same.
func TestUnowned(t *testing.T) {
	missing := map[merge.Operation]int{}
	eachWrite(t, 300, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		usual, ok := made(t, l, r, w)
		if !ok {
			return usual, ok
		}
		lost := everyThird(r.Object)
		engine := merge.New(merge.Config{Unowned: lost})
		var got merge.Result
		var err error
		if w.Operation == merge.Update {
			got, err = engine.Update(r)
			diff, _ := typed.Compare(r.Live, r.Object)
			lost = lost.Intersect(diff.Modified.Union(diff.Added))
		} else if plan, failed := engine.Apply(r); failed == nil {
			got = plan.Force()
		} else {
			err = failed
		}
		if err != nil {
			t.Errorf("error %v", err)
			return usual, ok
		}
		want := usual.Managers
		if own, ok := want.Get(w.Manager); ok {
			missing[w.Operation] += own.Fields.Intersect(lost).Len()
			if own.Fields = own.Fields.Minus(lost); own.Fields.IsEmpty() {
				want = merging.Without(want, w.Manager)
			} else {
				want = merging.With(want, own)
			}
		}
		if show(got.Managers) != show(want) || !got.Object.Content().Equal(usual.Object.Content()) {
			t.Errorf("without %v\ngot %v\n%swant %v\n%s", lost, got.Object.Content(), show(got.Managers), usual.Object.Content(), show(want))
		}
		return usual, ok
	})
	if missing[merge.Apply] == 0 || missing[merge.Update] == 0 {
		t.Errorf("fields that the writer owned otherwise: %v", missing)
	}
}

// A write modifies nothing that it is given.
func TestWritesModifyNothing(t *testing.T) {
	eachWrite(t, 300, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		text := func() string { return r.Live.Content().String() + r.Object.Content().String() + show(r.Managers) }
		before := text()
		result, ok := made(t, l, r, w)
		if after := text(); after != before {
			t.Errorf("was %s\nis %s", before, after)
		}
		return result, ok
	})
}

// The decisions of a plan agree with its conflicts and with its result.
func TestDecisionsAgree(t *testing.T) {
	eachWrite(t, 300, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		if w.Operation == merge.Update {
			return made(t, l, r, w)
		}
		plan, err := l.engine.Apply(r)
		if err != nil {
			return merge.Result{}, false
		}
		result := plan.Force()
		var conflicting fieldpath.Builder
		for d := range plan.Decisions() {
			var owners []merge.Manager
			for e := range merging.OwnersOf(result.Managers, d.Path) {
				owners = append(owners, e.Manager)
			}
			if !slices.Equal(owners, d.After) {
				t.Errorf("%v has the owners %v, and %v by its decision", d.Path, owners, d.After)
			}
			if !d.Result.Equal(typing.At(result.Object, d.Path)) || !d.Live.Equal(typing.At(r.Live, d.Path)) {
				t.Errorf("%v is decided to become %v from %v", d.Path, d.Result, d.Live)
			}
			if d.Outcome == merge.Conflicting {
				conflicting.Add(d.Path)
			}
		}
		var want fieldpath.Builder
		for _, c := range plan.Conflicts() {
			want.Add(c.Path)
		}
		if got, want := conflicting.Set(), want.Set(); !got.Equal(want) {
			t.Errorf("decided to be conflicts %v, want %v", got, want)
		}
		return result, true
	})
}

// Two appliers whose fields do not touch each other may come in any order.
func TestDisjointAppliersCommute(t *testing.T) {
	tried := 0
	for seed := range seeds.Each(t, 2500) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		compiled, err := schema.Compile(s.Document)
		if err != nil {
			t.Fatal(err)
		}
		root := compiled["root"]
		values := gen.Values{Choices: c, Depth: 4}
		base, err := typed.New(values.Of(root), root)
		if err != nil {
			t.Fatal(err)
		}
		a, b := split(c, values.Of(root), root)
		if a.Fields().IsEmpty() || b.Fields().IsEmpty() {
			continue
		}
		tried++
		first, second := inOrder(t, base, a, b), inOrder(t, base, b, a)
		first.Managers, second.Managers = reconciled(t, first.Managers, root), reconciled(t, second.Managers, root)
		if first.Object.Content().String() != second.Object.Content().String() || !merging.Equal(first.Managers, second.Managers) {
			t.Fatalf("seed %d: %v and %v on %v give\n%v\n%sthe other way round\n%v\n%s", seed, a.Content(), b.Content(), base.Content(),
				first.Object.Content(), show(first.Managers), second.Object.Content(), show(second.Managers))
		}
	}
	if tried < 500 {
		t.Errorf("only %d pairs of appliers", tried)
	}
}

// split gives each of two appliers some members of v.
func split(c *gen.Choices, v value.Value, root *schema.Type) (a, b typed.Value) {
	if v.Kind() != value.KindObject || root.Map() == nil || root.Map().Atomic() {
		return a, b
	}
	parts := [2]value.Value{value.Object(), value.Object()}
	for name, member := range v.Members() {
		i := c.N(2)
		parts[i] = parts[i].With(name, member)
	}
	var errA, errB error
	a, errA = typed.New(parts[0], root)
	b, errB = typed.New(parts[1], root)
	if errA != nil || errB != nil {
		panic("parts of a value are no values of its type")
	}
	return a, b
}

// reconciled returns ms as the next write will see them: types that admit an atomic object and a granular list count as
// atomic where there is no value to tell.
func reconciled(t *testing.T, ms merge.Managers, root *schema.Type) merge.Managers {
	t.Helper()
	for e := range ms.All() {
		var err error
		if e.Fields, _, err = typed.Reconcile(e.Fields, root); err != nil {
			t.Fatal(err)
		}
		ms = merging.With(ms, e)
	}
	return ms
}

// inOrder applies first and then second, each by a manager of its own, which is named for what it applies.
func inOrder(t *testing.T, live typed.Value, first, second typed.Value) merge.Result {
	t.Helper()
	result := merge.Result{Object: live}
	for _, config := range []typed.Value{first, second} {
		plan, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: result.Object, Managers: result.Managers, Object: config, APIVersion: "v1",
			Manager: merge.Manager{Name: config.Content().String(), Operation: merge.Apply},
		})
		if err != nil {
			t.Fatal(err)
		}
		if conflicts := plan.Conflicts(); len(conflicts) > 0 {
			t.Fatal(conflicts)
		}
		result = plan.Force()
	}
	return result
}

// The only owner of an object gets the results and decisions that it gets beside a stranger who owns something that is not there.
func TestOnlyOwner(t *testing.T) {
	stranger := merge.Entry{Manager: merge.Manager{Name: "stranger", Operation: merge.Apply}, Fields: fieldpath.SetOf(fieldpath.Path{fieldpath.Field("strange")})}
	alone := 0
	eachWrite(t, 400, func(l *live, r merge.Request, w gen.Write) (merge.Result, bool) {
		result, ok := made(t, l, r, w)
		if w.Operation == merge.Update {
			return result, ok
		}
		own, _ := r.Managers.Get(r.Manager)
		own.Manager = r.Manager
		stranger.APIVersion, own.APIVersion = r.APIVersion, r.APIVersion
		r.Managers = merge.ManagersOf(own)
		one, errOne := l.engine.Apply(r)
		r.Managers = merge.ManagersOf(own, stranger)
		other, errOther := l.engine.Apply(r)
		if errOne != nil || errOther != nil {
			if (errOne == nil) != (errOther == nil) {
				t.Errorf("alone %v, beside a stranger %v", errOne, errOther)
			}
			return result, ok
		}
		alone++
		first, second := one.Force(), other.Force()
		managers := merging.Without(second.Managers, stranger.Manager)
		if !first.Object.Content().Equal(second.Object.Content()) || first.Changed != second.Changed || !merging.Equal(first.Managers, managers) {
			t.Errorf("alone\n%v\n%sbeside a stranger\n%v\n%s", first.Object.Content(), show(first.Managers), second.Object.Content(), show(managers))
		}
		equal := func(a, b merge.Decision) bool {
			return slices.Equal(a.Path, b.Path) && a.Outcome == b.Outcome && a.Rule == b.Rule && a.Live.Equal(b.Live) && a.Result.Equal(b.Result) &&
				slices.Equal(a.Before, b.Before) && slices.Equal(a.After, b.After)
		}
		if a, b := slices.Collect(one.Decisions()), slices.Collect(other.Decisions()); !slices.EqualFunc(a, b, equal) {
			t.Errorf("alone %v, beside a stranger %v", a, b)
		}
		return result, ok
	})
	if alone < 200 {
		t.Errorf("only %d applies were compared", alone)
	}
}
