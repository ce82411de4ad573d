package dryrun

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// How names the way in which a server changes a field beside merging it.
type How string

// The ways.
const (
	Defaulted  How = "defaulted"  // the field was unset, and it gets its default value
	Normalised How = "normalised" // the value gets another form, is not stored, or becomes null
	Reset      How = "reset"      // the endpoint does not write the field, which keeps its value
)

// Adjustment is a field whose stored value differs from its merged value.
type Adjustment struct {
	Path           fieldpath.Path
	How            How
	Merged, Stored value.Value // absent if there is no value
}

// Adjustments returns the changes that a server makes beside merging, in the order of paths, for the first request of x, an apply of t. It
// leaves out bookkeeping in the metadata. The error says that the outcome does not conform to its type.
//
// Fields that are stored unchanged are left out, unless the endpoint does not write them.
//
// The cost grows with the changes that the server makes. Fields that merging and the server leave equal are not visited.
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

// storedOtherwise returns the merged object of the first request of x, the stored object, and the paths of the leaves that differ. The
// error says that the outcome does not conform to its type.
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

// isServers reports whether the server itself maintains the field at path: bookkeeping, and kubectl's record.
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
