// Package history reads, replays and reports histories: files with writes of several managers, one after the other.
package history

import (
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// History is a file of steps to replay.
type History struct {
	manifest.Origin
	schemas types.Flags
	resets  map[string]fieldpath.Set // by subresource: the fields that it does not write
	timed   bool                     // whether any step has a time
	steps   []*historyStep
}

// historyStep is one write.
type historyStep struct {
	manifest.Origin // the step; its document is the history
	manager         string
	operation       string
	subresource     string
	endpoint        string // the version of the request; empty for the version of the object
	note            string
	force           bool
	time            time.Time        // zero if it is not given
	conflicts       int64            // how many are expected; -1 if it is not given
	refusal         string           // part of the expected error; empty if none is expected
	given           *manifest.Object // nil if the step is about the object of the step before
	patch           value.Value
}

// writes reports whether the step writes the content of an object.
func (s *historyStep) writes() bool { return s.operation == stepApply || s.operation == stepUpdate }

// endpointOf returns the kind and version of the endpoint that a step writes given through.
func (s *historyStep) endpointOf(given *manifest.Object) schema.GVK {
	if s.endpoint == "" {
		return given.GVK()
	}
	return schema.ParseGVK(s.endpoint, given.GVK().Kind)
}

// The operations of steps.
const (
	stepApply   = "apply"
	stepUpdate  = "update"
	stepDelete  = "delete"
	stepExtract = Extract
)

// Extract is the operation of a step that only reads: its object is what a manager applied.
const Extract = "extract"

var stepOperations = []string{stepApply, stepUpdate, stepDelete, stepExtract}
