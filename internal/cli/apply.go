package cli

import (
	"errors"
	"fmt"
	"slices"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/typed"
)

// applyFlags are those of deed apply.
type applyFlags struct {
	input   inputFlags
	live    []string
	schemas schemaFlags
	output  outputFlags
	manager string
	force   bool
}

func (c *cli) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply -f CONFIG [--live LIVE]",
		Short: "Apply configurations to live objects, as kubectl apply --server-side does",
		Long: `Apply configurations to live objects, as kubectl apply --server-side does, and
print what the API server would store, metadata.managedFields included.

Configurations and live objects are YAML or JSON: several documents, lists and
directories of them too. A configuration is applied to the live object with its
group, kind, namespace and name; where one of the two does not say its
namespace, the other's counts. What has no live object is created.

A field that others own and the configuration would change is a conflict. Its
object is then not printed, the conflict is explained on standard error, and the
exit code is 1.

The type of a kind comes from --crd, from CustomResourceDefinitions among the
objects, from --openapi, from --schema, or is built in (Kubernetes v1.37): the
first that has it counts. Default values are not filled in, and what admission
controllers would change is not known.

The time in managedFields is the current time, or, for output that is the same
in every run, that of the environment variable SOURCE_DATE_EPOCH, in seconds.`,
		Example: `  # What will the cluster store?
  kubectl get -f web.yaml -o yaml --show-managed-fields > live.yaml
  deed apply -f web.yaml --live live.yaml

  # The same for everything in a directory, live objects from a pipe, as another manager, in JSON
  kubectl get -R -f deploy -o yaml --show-managed-fields | deed apply -R -f deploy --live - --field-manager ci -o json

  # Create a custom resource, without managedFields in the output
  deed apply -f widget.yaml --crd widget-crd.yaml --show-managed-fields=false`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.apply(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.input.register(flags)
	flags.StringArrayVar(&f.live, "live", nil,
		"`file` or directory with the objects as they are stored, with managedFields, or - for standard input; repeatable")
	flags.StringVar(&f.manager, "field-manager", "kubectl", "the `name` of the manager that applies")
	flags.BoolVar(&f.force, "force-conflicts", false, "take fields from others who own them")
	f.output.register(flags)
	f.schemas.register(flags)
	return cmd
}

// apply is deed apply.
func (c *cli) apply(f applyFlags) error {
	names, err := c.inputs(f.input)
	if err != nil {
		return err
	}
	now, err := clock()
	if err := errors.Join(err, checkStdin(names, f.live), checkManager(f.manager), f.schemas.check()); err != nil {
		return err
	}
	configs := c.objects(c.read(names, f.input.recursive))
	before := c.problems
	stored := c.objects(c.read(f.live, f.input.recursive))
	complete := c.problems == before
	if len(configs) == 0 && c.problems == 0 {
		return errors.New("there are no objects in the input")
	}
	types := c.newTypes(f.schemas, append(configs[:len(configs):len(configs)], stored...)...)
	if types == nil {
		return nil
	}
	a := &applier{
		cli: c, applyFlags: f, types: types, live: newLiveObjects(stored, complete), config: managedfields.Config{Now: now},
		printer: f.output.printer(c.out, len(configs) > 1), conflicts: conflictReport{cli: c, manager: f.manager},
		applied: map[objectID]*object{}, target: map[*object]*object{},
	}
	return a.run(configs)
}

// applier applies one configuration after the other.
type applier struct {
	*cli
	applyFlags
	types     *types
	live      *liveObjects
	config    managedfields.Config // what is the same for all kinds
	printer   *printer
	conflicts conflictReport

	applied map[objectID]*object // the configurations so far
	target  map[*object]*object  // live objects with the configuration that was applied to them
}

func (a *applier) run(configs []*object) error {
	for _, config := range configs {
		if outcome, ok := a.one(config); ok {
			if err := a.printer.print(outcome); err != nil {
				a.problem(config.at(), "%v", err)
			}
		}
	}
	a.conflicts.advise()
	if err := a.printer.close(); err != nil {
		fmt.Fprintf(a.err, "deed: %v\n", err)
		a.raise(exitInternal)
	}
	return nil
}

// one applies config. It reports why there is no outcome to print.
func (a *applier) one(config *object) (outcome managedfields.Object, ok bool) {
	if config.Entries != nil {
		a.problem(config.key("metadata", "managedFields"),
			"metadata.managedFields must be nil: leave it out, because it says who owns what and that is for the server to say")
		return outcome, false
	}
	live, ok := a.liveOf(config)
	if !ok {
		return outcome, false
	}
	endpoint, err := a.types.of(config.GVK(), a.config)
	if err != nil {
		a.problem(config.at("kind"), "%v", err)
		return outcome, false
	}
	stored := managedfields.Object{}
	if live != nil {
		if stored = live.Object; live.GVK() != config.GVK() && !endpoint.renamed {
			a.problem(live.at("apiVersion"), "%v is stored as %s, but the configuration at %v is %s: get the object in that version",
				live.id, live.GVK().APIVersion(), config.at(), config.GVK().APIVersion())
			return outcome, false
		}
	}
	plan, err := endpoint.manager.Plan(stored, config.Object, a.manager)
	if err != nil {
		a.refused(config, live, endpoint, err)
		return outcome, false
	}
	return a.decide(config, live, endpoint, plan)
}

// decide settles the conflicts of plan, if there are any.
func (a *applier) decide(config, live *object, e *endpoint, plan *managedfields.Plan) (outcome managedfields.Object, ok bool) {
	conflicts := plan.Conflicts()
	if len(conflicts) > 0 && !a.force {
		a.conflicts.add(config, conflicts)
		return outcome, false
	}
	outcome, err := plan.Force()
	if err != nil {
		a.refused(config, live, e, err)
		return outcome, false
	}
	a.forced(config, conflicts)
	return outcome, true
}

// liveOf returns the live object that config is to be applied to, nil if there is none. It reports when that is not known.
func (a *applier) liveOf(config *object) (live *object, ok bool) {
	if other := a.applied[config.id]; other != nil {
		a.problem(config.at(), "%v is already configured at %v", config.id, other.at())
		return nil, false
	}
	a.applied[config.id] = config
	live, err := a.live.find(config)
	switch {
	case err != nil:
		a.problem(config.at(), "%v", err)
	case live == nil && !a.live.complete:
		a.problem(config.at(), "%v may be stored, but not all live objects could be read", config.id)
	case live != nil && a.target[live] != nil:
		a.problem(config.at(), "%v has the same live object as the configuration at %v", config.id, a.target[live].at())
	default:
		if live != nil {
			a.target[live] = config
		}
		return live, true
	}
	return nil, false
}

// refused reports why config could not be applied, each reason at the place that it is about.
func (a *applier) refused(config, live *object, e *endpoint, err error) {
	var wrongType *managedfields.TypeError
	var defects typed.Errors
	var entry *managedfields.EntryError
	switch {
	case errors.As(err, &wrongType) && errors.As(err, &defects) && (live != nil || wrongType.Role == "patch"):
		subject := config
		if wrongType.Role != "patch" {
			subject = live
		}
		slices.SortStableFunc(defects, func(d, e *typed.Error) int { return subject.defectAt(d).compare(subject.defectAt(e)) })
		for _, defect := range defects {
			a.problem(subject.defectAt(defect), "%s", explain(defect, e.typ))
		}
	case errors.As(err, &entry) && live != nil:
		a.problem(live.entry(err), "%v", entry)
	default:
		a.problem(config.at(), "%v: %v", config.id, err)
	}
}

// checkManager refuses what kube-apiserver does not take for the name of a manager.
func checkManager(name string) error {
	if name == "" {
		return errors.New("--field-manager must not be empty")
	}
	if len(name) > 128 {
		return errors.New("--field-manager may not be more than 128 bytes")
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("--field-manager must be printable, but has %U at byte %d", r, i)
		}
	}
	return nil
}
