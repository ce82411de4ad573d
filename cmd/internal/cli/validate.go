package cli

import (
	"errors"
	"iter"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// validateFlags holds the flags of deed validate.
type validateFlags struct {
	stored storedFlags
	live   []string
	judged judgedFlags
	mode   strictness
	format choice
	color  colorFlags
}

// judgedFlags names the files for a server that validates.
type judgedFlags struct {
	policies   []string
	params     []string
	namespaces []string
}

func (f *judgedFlags) register(flags *pflag.FlagSet) {
	flags.Var(list{&f.policies}, "policy",
		"`file` or directory with admission policies in CEL, validating and mutating ones, and their bindings; repeatable")
	flags.Var(list{&f.params}, "params", "`file` or directory with the parameters of policies; repeatable")
	flags.Var(list{&f.namespaces}, "namespace-object",
		"`file` or directory with the namespaces of the objects, whose labels policies see; repeatable. Others have no labels")
}

// any reports whether f names any file.
func (f *judgedFlags) any() bool { return len(f.policies)+len(f.params)+len(f.namespaces) > 0 }

func (c *cli) validateCommand() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate [-f] FILE...",
		Short: "Find what a server would refuse of objects, without a cluster",
		Long: `Find what a server would refuse of objects: unknown fields, values of the wrong
type, items of sets and keyed lists that occur twice or have no key, and names
that occur twice in an object. Each finding has a place, and an unknown field
has a similar known name.

Objects of built-in kinds are read as a server reads whole objects. Findings are
also values that do not fit into the Go type of their field, required texts that
are empty, texts that a field does not allow, and versions that are not served.

deed runs the program deed-validate, which is beside it or in PATH. This program
also sends each object to an API server in its own process, as a dry run. So
findings are also what the validation of a server refuses. With --live, changes
of stored objects are validated. With --policy, admission policies decide.
Without deed-validate, --live and --policy are errors.

The checks that are left out are named once, and as notChecked in the other
formats.

A CustomResourceDefinition whose schema cannot be read is invalid, and its
objects are not validated. Neither are objects of kinds without a schema.

With -o sarif, findings are printed for code scanning, and with -o junit as a
report of tests, with a test for each object. A file, a document or an object
that cannot be checked is a result there too, and an error of a test.

As in kubectl, --validate=warn turns unknown fields and duplicates into
warnings, and --validate=ignore leaves them out.`,
		Example: `  # Would a server refuse an object in a directory?
  deed validate -R deploy
  deed validate web.yaml 'deploy/*.yaml'

  # With custom resources, for programs
  deed validate -f widget.yaml --crd widget-crd.yaml -o json`,
		RunE: func(*cobra.Command, []string) error { return c.validate(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.input.registerFor(flags, "objects")
	flags.Var(list{&f.live}, "live",
		"`file` or directory with objects as they are stored, which the objects are applied to: changes are validated, too; repeatable")
	f.judged.register(flags)
	f.mode.register(flags, "how strict to be")
	f.format = choice{report.FormatText, resultFormats}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// validate runs deed validate.
func (c *cli) validate(f validateFlags) error {
	names, err := c.inputs(f.stored.input)
	if err := errors.Join(err, checkStdin(names, f.live), f.stored.schemas.Check()); err != nil {
		return err
	}
	if c.newServer == nil {
		if err := c.delegate(); err == nil || f.judged.any() || len(f.live) > 0 {
			return err
		}
	}
	r := manifest.Everything
	r.Unnamed, r.Repeating = true, true
	objects := c.survey(c.read(names, f.stored.input), r)
	known := c.NewTypes(f.stored.schemas, objects.definitions...) // nil if nothing can be validated
	server, err := c.server(f, objects)
	if err != nil {
		return err
	}
	p := report.NewInvalidPrinter(c.out, f.format.value, f.mode.value, server != nil, f.color.painter(c.out))
	for o, x := range jobs.Map(c.Jobs, endpoints(objects, known), func(o typedObject) validated { return o.validate(server) }) {
		if o.untyped != nil {
			c.Untyped(o.Object, o.untyped)
		}
		report.Warned(c.Log, o.Object, x.warnings)
		if !p.Print(o.Object, x.defects, x.how) {
			c.Raise(notice.ExitFinding)
		}
	}
	err = p.Close(c.Notices)
	if server != nil {
		err = errors.Join(err, server.Close())
	}
	return c.end(err)
}

// typedObject is an object with the endpoint of its kind, nil if no schema describes it.
type typedObject struct {
	*manifest.Object
	endpoint *types.Endpoint
	untyped  error // why there is no endpoint
}

// endpoints yields the objects with their endpoints. known is nil if nothing can be validated.
func endpoints(objects *survey, known *types.Types) iter.Seq[typedObject] {
	return func(yield func(typedObject) bool) {
		for o := range objects.objects {
			out := typedObject{Object: o}
			if known != nil {
				out.endpoint, out.untyped = known.Of(o.GVK(), managedfields.Config{})
			}
			if !yield(out) {
				return
			}
		}
	}
}

// validated is what came of the validation of an object.
type validated struct {
	defects  []finding.Defect
	how      report.Validation
	warnings []types.Warning
}

// validate validates o by its schema, and by server unless that is nil.
func (o typedObject) validate(server finding.Server) validated {
	out := validated{defects: finding.Repetitions(o.Object), how: report.NotValidated}
	if o.endpoint == nil {
		return out
	}
	out.how = report.Validated
	if o.endpoint.MadeUp {
		out.how = report.Exempted
	}
	out.defects = append(out.defects, finding.Violations(o.Object, o.endpoint)...)
	refusals, v := []finding.Defect(nil), finding.Verdict{Unserved: true}
	if server != nil {
		v = server.Judge(o.Object, o.endpoint, out.defects)
	}
	if v.Unserved || v.Unread {
		refusals = finding.Refusals(o.Object, o.endpoint, out.defects)
	}
	if len(refusals) == 0 {
		refusals = v.Defects
	}
	if out.warnings = v.Warnings; v.Unserved {
		out.warnings = o.endpoint.Warnings()
	}
	out.defects = append(out.defects, refusals...)
	slices.SortStableFunc(out.defects, func(a, b finding.Defect) int { return a.Where.Compare(b.Where) })
	return out
}

// server returns the server that validates objects, or nil in a program without one. It reports objects that the server does not take.
func (c *cli) server(f validateFlags, objects *survey) (finding.Server, error) {
	if c.newServer == nil {
		return nil, nil
	}
	now, err := clock()
	if err != nil {
		return nil, err
	}
	config := finding.ServerConfig{Minor: f.stored.schemas.Minor(), Now: now, Refused: func(o *manifest.Object, err error) {
		class := notice.Refused
		switch {
		case slices.Contains(objects.definitions, o): // it is validated itself
			return
		case types.IsDefinition(o.Content):
			if f.stored.schemas.Schemaless || len(types.ReadDefinition(o).Errors()) > 0 { // what is wrong is not needed, or said
				return
			}
			class = notice.BadSchema
		}
		c.Report(notice.Notice{Class: class, Where: o.At(), Subject: o.String(), Text: o.View().Error(err)})
	}}
	type groupKind struct{ group, kind string }
	used := map[groupKind]bool{}
	for s := range objects.index.All() {
		used[groupKind{s.Group, s.Kind}] = true
		if s.Namespace != "" {
			config.In = append(config.In, s.Namespace)
		}
	}
	given, _ := c.quiet().DefinedBy(f.stored.schemas.Crds)
	params := c.Objects(c.Read(f.judged.params, true))
	for _, o := range params {
		used[groupKind{o.Id.Group, o.Id.Kind}] = true
	}
	for _, o := range slices.Concat(given, objects.definitions) {
		spec := o.Content.Get("spec")
		id := groupKind{spec.Get("group").Str(), spec.Get("names", "kind").Str()}
		if types.IsDefinition(o.Content) && used[id] {
			config.Definitions = append(config.Definitions, o)
			used[id] = false // the first of two counts
		}
	}
	config.Live, config.Params = c.Objects(c.ReadLive(f.live, true)), params
	config.Policies = c.policies(f.judged.policies)
	config.Namespaces = c.Objects(c.Read(f.judged.namespaces, true))
	return c.newServer(config)
}
