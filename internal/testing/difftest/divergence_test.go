package difftest

import (
	"strings"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
)

// step is one write to an object in both engines, with the states before it.
type step struct {
	deed      deedRun // before the write
	smd       smdRun  // before the write
	write     gen.Write
	got, want outcome // deed's outcome, and the reference's
}

// divergence is a case in which deed deliberately differs from the reference. docs/reference-faults.md gives the reason.
type divergence struct {
	name  string
	holds func(*step) bool
	met   int // number of histories with it so far
}

// divergences are the ones that random histories meet. A divergence ends its history, because the objects differ from there on.
var divergences = []divergence{
	{name: "items that lack a key", holds: lacksKey},
	{name: "versions-in-pruning", holds: prunesInSeveralVersions},
}

// prunesInSeveralVersions: an applier prunes while fields are owned in two versions besides that of its last apply. The reference visits
// the versions in map order, and deed by name. Deed's answer is one of the reference's.
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

// everAnswers reports whether the reference can give an outcome that holds accepts. Its answers may depend on map order, so it runs
// repeatedly.
func (s *step) everAnswers(holds func(outcome) bool) bool {
	for range 200 {
		again := s.smd
		if holds(again.step(s.write)) {
			return true
		}
	}
	return false
}

// lacksKey: version 4 of the reference rejects items that lack one of several keys. Version 6 accepts them, and deed follows version 6. The
// generators make no such items, but pruning and shrinking may. If pruning happens in several versions, the reference may meet another
// error first.
func lacksKey(s *step) bool {
	rejected := func(o outcome) bool { return strings.Contains(o.message, "omits key field ") }
	return rejected(s.want) || s.want.err != "" && s.everAnswers(rejected)
}
