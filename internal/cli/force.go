package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// forceFlags say which fields to take from others who own them.
type forceFlags struct {
	all      bool
	fields   []string
	managers []string
}

func registerForce(flags *pflag.FlagSet, f *forceFlags) {
	flags.BoolVar(&f.all, "force-conflicts", false, "take fields from others who own them")
	flags.StringArrayVar(&f.fields, "force-field", nil,
		"take the field at `path`, such as .spec.replicas, and what is below it, and no others; repeatable")
	flags.StringArrayVar(&f.managers, "force-manager", nil,
		"take fields from the manager called `name`, and no others; repeatable")
}

// force decides which conflicts are forced.
type force struct {
	forceFlags
	paths []fieldpath.Path
}

// force reads the paths.
func (f forceFlags) force() (force, error) {
	out := force{forceFlags: f}
	for _, text := range f.fields {
		path, err := fieldpath.ParsePath(text)
		if err != nil {
			return out, fmt.Errorf("--force-field: %w", err)
		}
		out.paths = append(out.paths, path)
	}
	return out, nil
}

// takes reports whether c is decided for the applier.
func (f force) takes(c merge.Conflict) bool {
	return f.all || slices.Contains(f.managers, c.Owner.Manager.Name) ||
		slices.ContainsFunc(f.paths, func(p fieldpath.Path) bool { return c.Path.HasPrefix(p) })
}

// split returns the conflicts that are forced, and the others.
func (f force) split(all merge.Conflicts) (taken, refused merge.Conflicts) {
	for _, c := range all {
		if f.takes(c) {
			taken = append(taken, c)
		} else {
			refused = append(refused, c)
		}
	}
	return taken, refused
}
