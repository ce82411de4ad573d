package builtin_test

import (
	"testing"

	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/value"
)

// readExceptions reads what only a server knows, or admission sets.
func readExceptions(t *testing.T) []recording.Exception {
	t.Helper()
	out, err := recording.Exceptions("../../docs/divergences.md")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameObject compares objects without what the exceptions lead to, and counts those that made a difference.
func (y *tally) sameObject(t *testing.T, where, kind string, want, got value.Value) {
	for _, e := range y.exceptions {
		if !e.Of(kind) {
			continue
		}
		w, g := e.Without(want), e.Without(got)
		if w.String() != want.String() || g.String() != got.String() {
			y.allowed[e.String()]++
		}
		want, got = w, g
	}
	y.same(t, where, kind, "objects", want.String(), got.String())
}
