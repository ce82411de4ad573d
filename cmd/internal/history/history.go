// Package history knows writes of several managers, one after the other, as files: it reads them,
// replays them, and says what each step did.
package history

import (
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// History is a file of steps to replay.
type History struct {
	manifest.Origin
	schemas types.Flags
	resets  map[string]fieldpath.Set // by subresource: what it does not write
	timed   bool                     // whether any step says when it is
	steps   []*historyStep
}

// historyStep is one write.
type historyStep struct {
	manifest.Origin // of the step; its document is that of the history
	manager         string
	operation       string
	subresource     string
	endpoint        string // the version that is asked to write, empty for that of the object
	note            string
	force           bool
	time            time.Time        // zero when it is not given
	conflicts       int64            // how many are expected, -1 when it is not given
	refusal         string           // what the expected error says, empty when none is expected
	given           *manifest.Object // nil for a patch, and for what only reads
	patch           value.Value
}

// The operations of steps.
const (
	stepApply   = "apply"
	stepUpdate  = "update"
	stepDelete  = "delete"
	stepExtract = "extract"
)

var stepOperations = []string{stepApply, stepUpdate, stepDelete, stepExtract}
