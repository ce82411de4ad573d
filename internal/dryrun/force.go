package dryrun

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// ForceFlags say which fields to take from others who own them.
type ForceFlags struct {
	All      bool
	Fields   []string
	Managers []string
}

// Force decides which conflicts are forced.
type Force struct {
	ForceFlags
	paths []fieldpath.Path
}

// Force reads the paths.
func (f ForceFlags) Force() (Force, error) {
	out := Force{ForceFlags: f}
	for _, text := range f.Fields {
		path, err := fieldpath.ParsePath(text)
		if err != nil {
			return out, fmt.Errorf("--force-field: %w", err)
		}
		out.paths = append(out.paths, path)
	}
	return out, nil
}

// Takes reports whether c is decided for the applier.
func (f Force) Takes(c merge.Conflict) bool {
	return f.All || slices.Contains(f.Managers, c.Owner.Manager.Name) ||
		slices.ContainsFunc(f.paths, func(p fieldpath.Path) bool { return c.Path.HasPrefix(p) })
}

// split returns the conflicts that are forced, and the others.
func (f Force) split(all merge.Conflicts) (taken, refused merge.Conflicts) {
	for _, c := range all {
		if f.Takes(c) {
			taken = append(taken, c)
		} else {
			refused = append(refused, c)
		}
	}
	return taken, refused
}
