package difftest

import (
	"strings"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
)

// step is one write on an object in both engines, before and after.
type step struct {
	deed      deedRun // before
	smd       smdRun  // before
	write     gen.Write
	got, want outcome // of deed, and of the reference
}

// divergence is a case in which deed answers otherwise than the reference on purpose. docs/divergences.md says why.
type divergence struct {
	name  string
	holds func(*step) bool
	met   int // in how many histories so far
}

// divergences are those that random histories meet. Each ends its history, for the objects are not the same from there on.
var divergences = []divergence{
	{name: "items that lack a key", holds: lacksKey},
	{name: "versions-in-pruning", holds: prunesInSeveralVersions},
}

// prunesInSeveralVersions: an applier prunes while fields are owned in two versions besides that of its last apply. The
// reference takes these in the order of a Go map, and deed in that of their names: deed's is one of the reference's answers.
func prunesInSeveralVersions(s *step) bool {
	versions := map[string]bool{s.write.Version: true}
	for e := range s.deed.managers.All() {
		if e.Manager != s.write.Manager {
			versions[e.APIVersion] = true
		}
	}
	if len(versions) < 2 || s.write.Operation != merge.Apply {
		return false
	}
	return s.everAnswers(func(o outcome) bool { return o.String() == s.got.String() })
}

// everAnswers reports whether the reference, whose answers may depend on the order of Go maps, ever gives one that holds accepts.
func (s *step) everAnswers(holds func(outcome) bool) bool {
	for range 200 {
		again := s.smd
		if holds(again.step(s.write)) {
			return true
		}
	}
	return false
}

// lacksKey: version 4 of the reference rejects items that lack one of several keys, and version 6 does not, which deed follows.
// The generators make no such items, but pruning, and shrinking a history, may. It is no divergence from version 6. Where several
// versions are pruned in, the reference may stumble over something else first.
func lacksKey(s *step) bool {
	rejected := func(o outcome) bool { return strings.Contains(o.message, "omits key field ") }
	return rejected(s.want) || s.want.err != "" && s.everAnswers(rejected)
}
