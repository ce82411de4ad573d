package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// Tally counts what was compared with recorded answers, what differed, and what was left out and why.
type Tally struct {
	exceptions []Exception
	compared   map[string]int
	differed   map[string]int
	allowed    map[string]int // by the exception that made the difference
	left       map[string]int // by the reason
	shown      map[string]int
}

// NewTally returns the tally that compares objects without what exceptions lead to.
func NewTally(exceptions []Exception) *Tally {
	return &Tally{
		exceptions: exceptions, compared: map[string]int{}, differed: map[string]int{}, allowed: map[string]int{},
		left: map[string]int{}, shown: map[string]int{},
	}
}

// shownOfEach is how many differences of each kind of object are told.
const shownOfEach = 3

// Same counts a comparison of what the server said with what deed says, and reports whether a
// difference is to be told: no more than three of each kind are.
func (y *Tally) Same(what, kind, want, got string) bool {
	y.compared[what]++
	if want == got {
		return true
	}
	y.differed[what]++
	key := what + " " + kind
	y.shown[key]++
	return y.shown[key] > shownOfEach
}

// Differ reports whether anything differed.
func (y *Tally) Differ() bool { return len(y.differed) > 0 }

// Compared returns how many comparisons of what there were.
func (y *Tally) Compared(what string) int { return y.compared[what] }

// Allow counts a difference that is known and has a reason.
func (y *Tally) Allow(reason string) { y.allowed[reason]++ }

// Leave counts a request that is not compared, for a reason.
func (y *Tally) Leave(reason string) { y.left[reason]++ }

// Stripped returns two objects of a kind without what the exceptions lead to, and counts the
// exceptions that made a difference.
func (y *Tally) Stripped(kind string, want, got value.Value) (value.Value, value.Value) {
	for _, e := range y.exceptions {
		if !e.Of(kind) {
			continue
		}
		w, g := e.Without(want), e.Without(got)
		if !w.Equal(want) || !g.Equal(got) {
			y.allowed[e.String()]++
		}
		want, got = w, g
	}
	return want, got
}

// String returns the counts, one a line.
func (y *Tally) String() string {
	var out strings.Builder
	for _, what := range slices.Sorted(maps.Keys(y.compared)) {
		fmt.Fprintf(&out, "%5d %s compared, %d differ\n", y.compared[what], what, y.differed[what])
	}
	for _, reason := range slices.Sorted(maps.Keys(y.allowed)) {
		fmt.Fprintf(&out, "%5d without %s\n", y.allowed[reason], reason)
	}
	for _, reason := range slices.Sorted(maps.Keys(y.left)) {
		fmt.Fprintf(&out, "%5d not compared: %s\n", y.left[reason], reason)
	}
	return out.String()
}
