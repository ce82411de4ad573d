package difftest

import (
	"maps"
	"strings"

	"github.com/deed-project/deed/internal/gen"
	"github.com/deed-project/deed/typed"
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
	{name: "pruning although nothing is given up", holds: prunesNothing},
	{name: "items that lack a key", holds: lacksKey},
}

// prunesNothing: an apply gives nothing up. The reference prunes nevertheless: it removes all that is applied, looks at the
// rest in the versions of all managers, and puts back what it can find there. This may lose fields and may fail, unlike
// answering as if it did not know what was applied last.
func prunesNothing(s *step) bool {
	config, err := typed.New(s.write.Object, s.deed.types[s.write.Version])
	if err != nil {
		return false
	}
	last, applied := s.deed.managers.Get(s.write.Manager)
	if !applied || last.APIVersion != s.write.Version || !last.Fields.Minus(config.Fields()).IsEmpty() {
		return false
	}
	forgetful := s.smd
	forgetful.managers = maps.Clone(s.smd.managers)
	delete(forgetful.managers, key(s.write.Manager))
	answer := forgetful.step(s.write)
	if answer.err != "" || answer.conflicts != "" { // nothing changes
		answer.managers = s.smd.show()
	}
	return answer.String() == s.got.String()
}

// lacksKey: version 4 of the reference rejects items that lack one of several keys, and version 6 does not, which deed follows.
// The generators make no such items, but pruning, and shrinking a history, may. It is no divergence from version 6.
func lacksKey(s *step) bool { return strings.Contains(s.want.message, "omits key field ") }
