package value

import (
	"math/rand/v2"
	"testing"
)

// TestShare demands that what is shared is the same document, and that nothing is left that could be shared.
func TestShare(t *testing.T) {
	seeded(t, 5000, func(t *testing.T, r *rand.Rand) {
		former := randomValue(r, 4)
		v, err := FromAny(changed(r, former.ToAny()))
		if err != nil {
			t.Fatal(err)
		}
		want := v.String()
		got := share(v, former)
		if got.String() != want || !identical(got, v) {
			t.Errorf("beside %v: got %v, want %v", former, got, want)
		}
		unshared(t, got, former)
		again, err := Parse(former.AppendJSON(nil))
		if err == nil && identical(again, former) && !share(again, former).Same(former) && former.Len() > 0 {
			t.Errorf("%v is not itself", former)
		}
	})
}

// identical reports whether two documents are equal, and of the same kinds.
func identical(v, w Value) bool {
	if v.Kind() != w.Kind() || !v.Equal(w) || v.Kind() == KindFloat && !v.Same(w) {
		return false
	}
	i := 0
	for item := range v.Items() {
		if !identical(item, w.Item(i)) {
			return false
		}
		i++
	}
	for name, member := range v.Members() {
		if !identical(member, w.Get(name)) {
			return false
		}
	}
	return true
}

// unshared fails for what is in v and former at the same place, and not the same.
func unshared(t *testing.T, v, former Value) {
	t.Helper()
	if v.Kind() == KindString && v.Equal(former) && !v.Same(former) || v.Len() > 0 && identical(v, former) && !v.Same(former) {
		t.Errorf("%v is not shared", v)
	}
	i := 0
	for item := range v.Items() {
		if former.Kind() == KindList && i < former.Len() {
			unshared(t, item, former.Item(i))
		}
		i++
	}
	for name, member := range v.Members() {
		if old := former.Get(name); !old.IsAbsent() {
			unshared(t, member, old)
		}
	}
}

// TestShareStoresTheWay counts what sharing a change costs: the containers around it.
func TestShareStoresTheWay(t *testing.T) {
	text := []byte(`{"a":[{"b":"1"},{"c":["d",{"e":{"f":"g"}}]}],"h":{"i":{"j":"k"}}}`)
	former, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { share(v, former) }); n != 0 {
		t.Errorf("%v allocations for what is the same", n)
	}
	other := v.With("h", v.Get("h").With("l", Null()))
	if n := testing.AllocsPerRun(100, func() { share(other, former) }); n > 2 {
		t.Errorf("%v allocations for a member that comes", n)
	}
}
