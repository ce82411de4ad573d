package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/report"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// storedFlags say which stored objects a command is about, and which schemas there are for them.
type storedFlags struct {
	input   inputFlags
	schemas types.Flags
}

const storedObjects = "objects as they are stored, with managedFields"

// errNoObjects says that the files have nothing in them.
var errNoObjects = errors.New("there are no objects in the input")

func (f *storedFlags) registerInput(flags *pflag.FlagSet) { f.input.registerFor(flags, storedObjects) }

// storedOnly returns the objects that f names. The error is one of the command line, or there is no object at all.
func (c *cli) storedOnly(f inputFlags) ([]*manifest.Object, error) {
	names, err := c.inputs(f)
	if err != nil {
		return nil, err
	}
	if err := checkStdin(names); err != nil {
		return nil, err
	}
	objects := c.Objects(c.Read(names, f.recursive))
	if len(objects) == 0 && c.Problems == 0 {
		return nil, errNoObjects
	}
	return objects, nil
}

// stored returns the objects that f names and the schemas. There are no objects when the schemas cannot be used, which it
// reports.
func (c *cli) stored(f storedFlags) ([]*manifest.Object, *types.Types, error) {
	if err := f.schemas.Check(); err != nil {
		return nil, nil, err
	}
	objects, err := c.storedOnly(f.input)
	if err != nil {
		return nil, nil, err
	}
	types := c.NewTypes(f.schemas, objects...)
	if types == nil {
		return nil, nil, nil
	}
	return objects, types, nil
}

// newManager returns a manager that r names, which no object has yet.
func newManager(r report.ManagerRef) merge.Manager {
	m := merge.Manager{Name: r.Name, Operation: r.Operation, Subresource: r.Subresource}
	if m.Operation == "" {
		m.Operation = merge.Apply
	}
	return m
}

// only returns the only manager of o that r names. The error is [ownership.ErrNoManager] if there is none.
func only(o *manifest.Object, r report.ManagerRef) (merge.Manager, error) {
	var found []merge.Manager
	for _, w := range manifest.OwnersOf(o) {
		if r.Matches(w.Manager) && !slices.Contains(found, w.Manager) {
			found = append(found, w.Manager)
		}
	}
	switch len(found) {
	case 0:
		return merge.Manager{}, ownership.ErrNoManager
	case 1:
		return found[0], nil
	}
	return found[0], fmt.Errorf("%v is several managers: say which of %s", r, report.Identities(r.Name, []*manifest.Object{o}))
}
