package dryrun

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// How says in which way a server makes something else of a field than merging does.
type How string

// The ways.
const (
	Defaulted  How = "defaulted"  // nobody set the field, and it has a default value
	Normalised How = "normalised" // the value has another form, or is one that is not kept
	Reset      How = "reset"      // the endpoint does not write the field, which stays as it is
)

// Adjustment is a field that is stored otherwise than it was merged.
type Adjustment struct {
	Path           fieldpath.Path
	How            How
	Merged, Stored value.Value // absent where there is none
}

// Adjustments returns what the server does to the outcome of x, an apply of t, beside merging, in the order of paths. Bookkeeping of
// the server in its metadata is left out. The error is that the outcome is not of its type.
//
// The cost grows with the size of the object.
func (t *Task) Adjustments(x Applied) ([]Adjustment, error) {
	merged := x.Plan.Merge().Force().Object
	stored, err := typed.New(x.Outcome.Content, merged.Type(), typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	diff, err := typed.Compare(merged, stored)
	if err != nil {
		return nil, err
	}
	changed := diff.Added.Union(diff.Modified).Union(diff.Removed).Leaves()
	written := t.Endpoint.ResetFields.Keep(changed)
	var out []Adjustment
	for step := range typed.Walk(changed, []typed.Value{merged, stored}, written, diff.Added) {
		if isServers(step.Path) {
			continue
		}
		a := Adjustment{step.Path.Clone(), Normalised, step.Values[0], step.Values[1]}
		switch {
		case len(step.Sets) == 0 || step.Sets[0] != 0:
			a.How = Reset
		case len(step.Sets) == 2:
			a.How = Defaulted
		}
		out = append(out, a)
	}
	return out, nil
}

// isServers reports whether the field at path is one that servers keep by themselves.
func isServers(path fieldpath.Path) bool {
	if len(path) != 2 || path[0] != fieldpath.Field("metadata") {
		return false
	}
	switch path[1].Name() {
	case "generation", "uid", "resourceVersion", "creationTimestamp":
		return true
	}
	return false
}
