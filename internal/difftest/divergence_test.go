package difftest

import (
	"strings"

	"github.com/deed-project/deed/internal/gen"
)

// divergence is a case in which deed answers otherwise than the reference on purpose. docs/divergences.md has the same list.
type divergence struct {
	name  string
	holds func(before *deedRun, w gen.Write, deed, reference outcome) bool
}

// divergences are those that random histories meet.
var divergences = []divergence{
	{"items that lack a key", lacksKey},
	{"spurious prune error", isSpuriousPruneError},
}

// isSpuriousPruneError: an apply gives nothing up, so there is nothing to prune. The reference nevertheless removes all that
// was applied, converts what is left to the versions of other managers, and fails when that is no valid object.
func isSpuriousPruneError(before *deedRun, w gen.Write, deed, reference outcome) bool {
	return strings.Contains(reference.message, "failed to prune fields") && strings.Contains(reference.message, "failed to convert")
}

// lacksKey: version 4 of the reference rejects items that lack one of several keys, and version 6 does not, which deed follows.
// The generators make no such items, but pruning, and shrinking a history, may.
func lacksKey(_ *deedRun, _ gen.Write, _, reference outcome) bool {
	return strings.Contains(reference.message, "omits key field ")
}
