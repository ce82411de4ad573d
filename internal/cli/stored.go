package cli

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/managedfields"
)

// storedFlags say which stored objects a command is about, and which schemas there are for them.
type storedFlags struct {
	input   inputFlags
	schemas schemaFlags
}

const storedObjects = "objects as they are stored, with managedFields"

// errNoObjects says that the files have nothing in them.
var errNoObjects = errors.New("there are no objects in the input")

func (f *storedFlags) registerInput(flags *pflag.FlagSet) { f.input.registerFor(flags, storedObjects) }

// storedOnly returns the objects that f names. The error is one of the command line, or there is no object at all.
func (c *cli) storedOnly(f inputFlags) ([]*object, error) {
	names, err := c.inputs(f)
	if err != nil {
		return nil, err
	}
	if err := checkStdin(names); err != nil {
		return nil, err
	}
	objects := c.objects(c.read(names, f.recursive))
	if len(objects) == 0 && c.problems == 0 {
		return nil, errNoObjects
	}
	return objects, nil
}

// stored returns the objects that f names and the schemas. There are no objects when the schemas cannot be used, which it
// reports.
func (c *cli) stored(f storedFlags) ([]*object, *types, error) {
	if err := f.schemas.check(); err != nil {
		return nil, nil, err
	}
	objects, err := c.storedOnly(f.input)
	if err != nil {
		return nil, nil, err
	}
	types := c.newTypes(f.schemas, objects...)
	if types == nil {
		return nil, nil, nil
	}
	return objects, types, nil
}

// typeOf returns how objects like o are written. It reports when no schema says.
func (c *library) typeOf(o *object, types *types, config managedfields.Config) (*endpoint, bool) {
	e, err := types.of(o.GVK(), config)
	if err != nil {
		c.problem(o.at("kind"), "%v: %v", o, err)
		return nil, false
	}
	return e, true
}

// untracked warns about an object without managed fields, where somebody must have left them out.
func (c *loader) untracked(o *object) {
	if len(o.Entries) == 0 {
		c.warn(o.at(), "%v has no metadata.managedFields: nobody owns anything; kubectl get shows them with --show-managed-fields", o)
	}
}

// entryProblems reports what keeps entries of o from being read, each in its place.
func (c *loader) entryProblems(o *object, err error) {
	eachError(err, func(err error) { c.problem(o.entry(err), "%v: %v", o, err) })
}

// managerNames returns the names of all managers of the objects, sorted.
func managerNames(objects []*object) []string {
	var names []string
	for _, o := range objects {
		for _, e := range o.Entries {
			names = append(names, e.Manager)
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return slices.Compact(names)
}
