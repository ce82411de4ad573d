package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/internal/dryrun"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/report"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// applyingFlags say how configurations are applied.
type applyingFlags struct {
	force       dryrun.ForceFlags
	rules       string
	noMigration bool
}

func (f *applyingFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.force.All, "force-conflicts", false, "take fields from others who own them")
	flags.StringArrayVar(&f.force.Fields, "force-field", nil,
		"take the fields at `path`, such as .spec.replicas or containers[*].image, and what is below, and no others; repeatable")
	flags.StringArrayVar(&f.force.Managers, "force-manager", nil,
		"take fields from the manager called `name`, and no others; repeatable")
	flags.StringVar(&f.rules, "rules", "", "`file` with rules that say which fields to take, and which to leave, by object and manager")
	flags.BoolVar(&f.noMigration, "no-migration", false,
		"do not migrate objects of client-side apply, as kubectl does by itself where it applies")
}

// apply returns what applies configurations in the name of manager. It is nil if the rules have defects, which are reported.
func (f *applyingFlags) apply(c *cli, manager string) (*dryrun.Apply, error) {
	if f.rules != "" {
		if f.force.Rules = dryrun.ReadRules(c.Loader, f.rules); f.force.Rules == nil {
			return nil, nil
		}
	}
	force, err := f.force.Force()
	if err != nil {
		return nil, err
	}
	return &dryrun.Apply{Manager: manager, Force: force, Migrate: !f.noMigration}, nil
}

// inputFlags say where the objects of a command come from.
type inputFlags struct {
	files     []string
	recursive bool
	jobs      int
}

func (f *inputFlags) register(flags *pflag.FlagSet) { f.registerFor(flags, "configurations") }

// registerFor is register for a command that reads what.
func (f *inputFlags) registerFor(flags *pflag.FlagSet, what string) {
	flags.StringArrayVarP(&f.files, "filename", "f", nil,
		"`file` or directory with "+what+", or - for standard input, which is also read when there is no -f; repeatable")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories with everything below them")
	flags.IntVar(&f.jobs, "jobs", 0, jobsUsage)
}

const jobsUsage = "work on `n` objects at a time; 0 is one for each processor"

// errNoInput says that there is nothing to read.
var errNoInput = errors.New("no input: name files or directories with -f, or pipe objects in")

// inputs returns the names of f, or standard input if there are none and something is piped in. It is the first function of
// this file to be called, as it sets how many jobs there are.
func (c *cli) inputs(f inputFlags) ([]string, error) {
	if f.jobs < 0 {
		return nil, errors.New("--jobs must not be negative")
	}
	c.Jobs = f.jobs
	if len(f.files) > 0 {
		return f.files, nil
	}
	if file, ok := c.In.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, errNoInput // a terminal, or nothing at all
		}
	}
	return []string{manifest.StdinName}, nil
}

// checkStdin refuses command lines that read standard input twice.
func checkStdin(names ...[]string) error {
	count := 0
	for _, name := range slices.Concat(names...) {
		if name == manifest.StdinName {
			count++
		}
	}
	if count > 1 {
		return errors.New("standard input can be read only once: name it once, and files otherwise")
	}
	return nil
}

// choice is a flag that has one of a few values.
type choice struct {
	value   string
	allowed []string
}

// String implements [pflag.Value].
func (c *choice) String() string { return c.value }

// Type implements [pflag.Value].
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements [pflag.Value].
func (c *choice) Set(text string) error {
	for _, a := range c.allowed {
		if text == a {
			c.value = text
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
}

// outputFlags say how objects are printed.
type outputFlags struct {
	format      choice
	showManaged bool
}

func (f *outputFlags) register(flags *pflag.FlagSet) {
	f.format = choice{report.FormatYAML, []string{report.FormatYAML, report.FormatJSON, report.FormatName}}
	flags.VarP(&f.format, "output", "o", "output format")
	flags.BoolVar(&f.showManaged, "show-managed-fields", true, "print metadata.managedFields")
}

func (f outputFlags) printer(out io.Writer, list bool) *report.Printer {
	return report.NewPrinter(out, f.format.value, f.showManaged, list)
}

func registerSchemas(flags *pflag.FlagSet, f *types.Flags) {
	flags.StringArrayVar(&f.Crds, "crd", nil,
		"`file` or directory with CustomResourceDefinitions; repeatable. Those among the objects are used anyway")
	flags.StringArrayVar(&f.OpenAPI, "openapi", nil,
		"`file` or directory with OpenAPI documents, v2 or v3, of an API server; repeatable")
	flags.StringVar(&f.Schema, "schema", "",
		"`file` with a schema in the form of structured-merge-diff, for kinds that --crd and --openapi lack")
	flags.StringVar(&f.TypeName, "type", "", "the `name` of the type in --schema that such kinds have")
	flags.BoolVar(&f.Schemaless, "schemaless", false,
		"treat kinds that no schema describes as objects whose lists are replaced as a whole")
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "say on standard error which schema describes each kind")
}

// writeFlags are those of the commands that write objects to live ones, or say what that would do.
type writeFlags struct {
	input       inputFlags
	live        []string
	schemas     types.Flags
	manager     string
	namespace   string
	name        string
	subresource string
	bare        bool
}

// register adds the flags that come first, with the name of the manager that writes when none is given.
func (f *writeFlags) register(flags *pflag.FlagSet, manager string) {
	flags.SortFlags = false
	f.input.register(flags)
	flags.StringArrayVar(&f.live, "live", nil,
		"`file` or directory with the objects as they are stored, with managedFields, or - for standard input; repeatable")
	flags.StringVar(&f.manager, "field-manager", manager, "the `name` of the manager that writes")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `name` of the namespace of objects that do not say theirs")
	flags.StringVar(&f.name, "name", "", "the `name` of an object that does not say its own")
	flags.StringVar(&f.subresource, "subresource", "", "the `name` of the subresource that is written through, such as status")
	flags.BoolVar(&f.bare, "no-defaults", false, "leave out what a server makes of an object beside merging it: default values and normal forms")
}

// registerServerSide adds the flag by which kubectl does what deed always does.
func registerServerSide(flags *pflag.FlagSet) {
	flags.Var(new(always), "server-side", "as in kubectl; deed knows no other way to apply")
	flags.Lookup("server-side").NoOptDefVal = "true"
}

// always is a flag that can only be on.
type always struct{}

// String implements [pflag.Value].
func (*always) String() string { return "true" }

// Type implements [pflag.Value].
func (*always) Type() string { return "bool" }

// Set implements [pflag.Value].
func (*always) Set(text string) error {
	if on, err := strconv.ParseBool(text); err != nil || !on {
		return errors.New("deed knows no client-side apply")
	}
	return nil
}

// workload is what a command writes.
type workload struct {
	*dryrun.Workload
	several bool // whether there are several objects
}

// open reads the input. It returns nil if that, or the schemas, have defects that leave nothing to do. files is where the
// outcomes go, nil for nowhere.
func (c *cli) open(f writeFlags, files *manifest.Rewriter) (*workload, error) {
	names, err := c.inputs(f.input)
	if err != nil {
		return nil, err
	}
	now, err := clock()
	if err := errors.Join(err, checkStdin(names, f.live), dryrun.CheckManager(f.manager), f.schemas.Check()); err != nil {
		return nil, err
	}
	r := manifest.Everything
	r.Fallback = f.name
	given, err := c.survey(names, f.input.recursive, r)
	if err != nil {
		return nil, err
	}
	live := f.live
	if files != nil {
		live = files.Existing(f.input.recursive)
	}
	before := c.Problems
	stored := c.Index(c.Read(live, f.input.recursive), manifest.Everything, files != nil)
	stored.Complete = c.Problems == before
	types := c.NewTypes(f.schemas, slices.Concat(given.definitions, stored.Definitions)...)
	if types == nil {
		return nil, nil
	}
	types.Bare = f.bare
	config := managedfields.Config{Now: now, Subresource: f.subresource}
	w := dryrun.NewWorkload(c.Library, types, config, given.objects, stored)
	w.Namespace, w.Name = f.namespace, f.name
	return &workload{w, given.several}, nil
}
