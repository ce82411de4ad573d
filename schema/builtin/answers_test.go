package builtin

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// answer is what the scheme of kube-apiserver made of a random object: see oracle/kube, which writes the file.
type answer struct {
	kind                 *Kind
	object, read, stored value.Value
}

func readAnswers(t *testing.T) []answer {
	t.Helper()
	lines, err := recording.Load[value.Value]("testdata/answers.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	var out []answer
	for _, line := range lines {
		a := answer{object: line.Get("object"), read: line.Get("read"), stored: line.Get("stored")}
		if a.stored.IsAbsent() {
			a.stored = a.read
		}
		gvk := schema.ParseGVK(a.object.Get("apiVersion").Str(), a.object.Get("kind").Str())
		kind, ok := Lookup(gvk)
		if !ok {
			t.Fatalf("%v is no built-in kind", gvk)
		}
		a.kind = kind
		out = append(out, a)
	}
	return out
}

// What a server holds and stores of random objects of every kind that it serves is what kube-apiserver's own scheme
// makes of them.
func TestAnswers(t *testing.T) {
	all := readAnswers(t)
	kinds := map[*Kind]bool{}
	for i, a := range all {
		kinds[a.kind] = true
		held, err := a.kind.Held(a.object)
		if err != nil {
			t.Errorf("object %d, a %v: %v", i, a.kind.GVK, err)
			continue
		}
		if held.String() != a.read.String() {
			t.Errorf("object %d, a %v, is held as (-scheme +deed)\n%s", i, a.kind.GVK, cmp.Diff(a.read.ToAny(), held.ToAny()))
			continue
		}
		stored, err := a.kind.Stored(held)
		if err != nil {
			t.Errorf("object %d, a %v: %v", i, a.kind.GVK, err)
			continue
		}
		if stored.String() != a.stored.String() {
			t.Errorf("object %d, a %v, is stored as (-scheme +deed)\n%s", i, a.kind.GVK, cmp.Diff(a.stored.ToAny(), stored.ToAny()))
		}
	}
	if len(all) < 1900 || len(kinds) < 86 {
		t.Errorf("%d objects of %d kinds, want 1900 of 86 or more", len(all), len(kinds))
	}
}

// Reading what was read, or stored, changes nothing; and what stays as it is, is shared.
func TestHeldIsStable(t *testing.T) {
	for i, a := range readAnswers(t) {
		held, err := a.kind.Held(a.stored)
		if err != nil {
			t.Fatal(err)
		}
		if held.String() != a.stored.String() {
			t.Errorf("object %d, a %v, changes when it is read again:\n%s", i, a.kind.GVK, cmp.Diff(a.stored.ToAny(), held.ToAny()))
		}
	}
}

// recordedKindNames returns the kinds of the histories in testdata/recordings.
func recordedKindNames(t *testing.T) []string {
	t.Helper()
	lines, err := recording.Load[value.Value]("testdata/recordings/slice.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range lines {
		out = append(out, line.Get("kind").Str())
	}
	return out
}
