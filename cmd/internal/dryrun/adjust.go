package dryrun

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// How says in which way a server makes something else of a field than merging does.
type How string

// The ways.
const (
	Defaulted  How = "defaulted"  // nobody set the field, and it has a default value
	Normalised How = "normalised" // the value has another form, or is one that is not kept, or null is printed for none
	Reset      How = "reset"      // the endpoint does not write the field, which stays as it is
)

// Adjustment is a field that is stored otherwise than it was merged.
type Adjustment struct {
	Path           fieldpath.Path
	How            How
	Merged, Stored value.Value // absent where there is none
}

// Adjustments returns what the first request of x, an apply of t, does to the object beside
// merging, in the order of paths. Bookkeeping in its metadata is left out. The error is that the
// outcome is not of its type.
//
// What is stored as it was is left out, but for what the endpoint does not write: nothing becomes of it.
//
// The cost grows with what the server makes of the object: what merging and it share is not looked
// at.
func (t *Task) Adjustments(x Applied) ([]Adjustment, error) {
	merged, stored, changed, err := storedOtherwise(x)
	if err != nil {
		return nil, err
	}
	written := merging.Kept(t.Endpoint.ResetFields, changed)
	var out []Adjustment
	live := merging.Live(managing.Merge(x.Plan))
	for step := range typed.Walk(changed, []typed.Value{merged, stored, live}, written) {
		if isServers(step.Path) {
			continue
		}
		a := Adjustment{slices.Clone(step.Path), Normalised, step.Values[0], step.Values[1]}
		switch {
		case a.Merged.IsAbsent() && !a.Stored.IsNull():
			a.How = Defaulted
		case len(step.Sets) == 0 && !a.Merged.IsAbsent() && a.Stored.Equal(step.Values[2]):
			a.How = Reset
		}
		if t.at != nil && a.How != Reset && a.Stored.Equal(step.Values[2]) {
			continue
		}
		out = append(out, a)
	}
	return out, nil
}

// storedOtherwise returns what the first request of x is merged to, what is stored of that, and the paths of the
// leaves that differ. The error is that the outcome is not of its type.
func storedOtherwise(x Applied) (merged, stored typed.Value, changed fieldpath.Set, err error) {
	merged = managing.Merge(x.Plan).Force().Object
	if stored, err = typing.Revise(merged, x.stored.Content, typed.AllowDuplicates); err != nil {
		return merged, stored, changed, err
	}
	diff, err := typed.Compare(merged, stored)
	if err != nil {
		return merged, stored, changed, err
	}
	return merged, stored, diff.Added.Union(diff.Modified).Union(diff.Removed).Leaves(), nil
}

// isServers reports whether the field at path is one that servers keep by themselves: bookkeeping,
// and kubectl's record.
func isServers(path fieldpath.Path) bool {
	if slices.Equal(path, Record) {
		return true
	}
	if len(path) != 2 || path[0] != fieldpath.Field("metadata") {
		return false
	}
	switch path[1].Name() {
	case "generation", "uid", "resourceVersion", "creationTimestamp":
		return true
	}
	return false
}
