package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// Tally counts comparisons with recorded answers, differences, and skipped comparisons with their reasons.
type Tally struct {
	exceptions []Exception
	compared   map[string]int
	differed   map[string]int
	allowed    map[string]int // by the exception that made the difference
	left       map[string]int // by the reason
	shown      map[string]int
}

// NewTally returns a Tally that skips exceptions in comparisons of objects.
func NewTally(exceptions []Exception) *Tally {
	return &Tally{
		exceptions: exceptions, compared: map[string]int{}, differed: map[string]int{}, allowed: map[string]int{},
		left: map[string]int{}, shown: map[string]int{},
	}
}

// shownOfEach is the number of differences that are reported for each kind of comparison and of object.
const shownOfEach = 3

// Same counts a comparison of the server's answer with deed's. It returns false for a difference that the caller should
// report: the first three of each kind.
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

// Compared returns the number of comparisons of what.
func (y *Tally) Compared(what string) int { return y.compared[what] }

// Allow counts a known difference with a reason.
func (y *Tally) Allow(reason string) { y.allowed[reason]++ }

// Leave counts a request that is skipped, with the reason.
func (y *Tally) Leave(reason string) { y.left[reason]++ }

// Stripped returns two objects without the exceptions of a kind, and counts the exceptions that made a difference.
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

// String returns the counts, one on each line.
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
