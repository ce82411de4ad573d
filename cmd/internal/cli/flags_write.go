package cli

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// writeFlags holds the flags of the commands that write to live objects, or predict a write.
type writeFlags struct {
	input       inputFlags
	live        []string
	cluster     clusterFlags
	schemas     types.Flags
	manager     string
	namespace   string
	name        string
	subresource string
	bare        bool
	mark        func(*manifest.Object) *manifest.Object // changes the objects that are written; nil leaves them as they are
}

// register adds the flags that come first. manager is the default field manager.
func (f *writeFlags) register(flags *pflag.FlagSet, manager string) {
	flags.SortFlags = false
	f.input.register(flags)
	flags.Var(list{&f.live}, "live",
		"`file` or directory with the objects as they are stored, with managedFields, - for standard input, or cluster for the cluster of the kubeconfig; repeatable. A List without items means that nothing is stored")
	f.cluster.register(flags)
	flags.StringVar(&f.manager, "field-manager", manager, "the `name` of the manager that writes")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `name` of the namespace of objects that have none")
	flags.StringVar(&f.name, "name", "", "the `name` of an object that has none")
	flags.StringVar(&f.subresource, "subresource", "", "the `name` of the subresource that is written through, such as status")
	flags.BoolVar(&f.bare, "no-defaults", false, "leave out the changes that a server makes beside merging: default values and normal forms")
}

// applyInput holds the flags of the commands that apply configurations, or predict an apply.
type applyInput struct {
	writeFlags
	how applyingFlags
}

func (f *applyInput) register(flags *pflag.FlagSet) {
	f.writeFlags.register(flags, "kubectl")
	registerServerSide(flags)
	f.how.register(flags)
}

// openApply is [cli.open] that also returns the apply of the flags. Both results are nil if there is nothing to do.
func (c *cli) openApply(f applyInput, files *manifest.Rewriter) (*dryrun.Apply, *workload, error) {
	how, err := f.how.apply(c, f.manager)
	if how == nil {
		return nil, nil, err
	}
	w, err := c.open(f.writeFlags, files)
	if w == nil {
		return nil, nil, err
	}
	return how, w, nil
}

// conflictReport returns the report of the conflicts of manager.
func (c *cli) conflictReport(manager string, color colorFlags) report.ConflictReport {
	migrate := func(from []string) string {
		return c.remedy("migrate", nil, given{"field-manager", []string{manager}}, given{"from", from})
	}
	return report.ConflictReport{Log: c.Log, Manager: manager, Paint: color.painter(c.Err), Migrate: migrate}
}

// workload is the input of a writing command.
type workload struct {
	*dryrun.Workload
	several bool // whether there are several objects
}

// gathered is the input of a writing command.
type gathered struct {
	*survey
	now         func() time.Time
	stored      *manifest.Live
	schemas     types.Flags
	definitions []*manifest.Object // of the given and the stored objects
}

// gather reads the input. files receives the outcomes and may be nil.
func (c *cli) gather(f writeFlags, files *manifest.Rewriter) (*gathered, error) {
	names, err := c.inputs(f.input)
	if err != nil {
		return nil, err
	}
	now, err := clock()
	if err := errors.Join(err, checkStdin(names, f.live), dryrun.CheckManager(f.manager), f.schemas.Check()); err != nil {
		return nil, err
	}
	r := manifest.Everything
	r.Fallback, r.Given = f.name, true
	out := &gathered{survey: c.survey(c.read(names, f.input), r), now: now}
	if f.mark != nil {
		out.objects = each(out.objects, f.mark)
	}
	out.stored, out.schemas, out.definitions, err = c.storedFor(f, out.survey, files)
	return out, err
}

// open reads the input. It returns nil if defects of the input or the schemas leave nothing to do. files receives the outcomes and may be
// nil.
func (c *cli) open(f writeFlags, files *manifest.Rewriter) (*workload, error) {
	given, err := c.gather(f, files)
	if err != nil {
		return nil, err
	}
	types := c.NewTypes(given.schemas, given.definitions...)
	if types == nil {
		return nil, nil
	}
	types.Bare = f.bare
	config := managedfields.Config{Now: given.now, Subresource: f.subresource}
	w := dryrun.NewWorkload(c.Library, types, config, given.objects, given.stored)
	w.Namespace, w.Name = f.namespace, f.name
	return &workload{w, given.several}, nil
}

// storedFor returns the stored objects of f, from files or a cluster, with the flags and the definitions that describe the kinds of the
// objects in given.
func (c *cli) storedFor(f writeFlags, given *survey, files *manifest.Rewriter) (*manifest.Live, types.Flags, []*manifest.Object, error) {
	isCluster, err := f.cluster.isCluster(f.live, false)
	if err != nil {
		return nil, f.schemas, nil, err
	}
	if isCluster {
		k, err := f.cluster.open(c, f.input, f.namespace)
		if err != nil {
			return nil, f.schemas, nil, err
		}
		texts, unknown := k.forConfigs(given)
		stored := c.Index(texts, manifest.Everything)
		stored.Complete, stored.Tracked, stored.Unknown = true, true, unknown
		schemas, definitions := k.schemas(f.schemas, given.definitions)
		return stored, schemas, definitions, nil
	}
	live := f.live
	if files != nil {
		live = files.Existing(f.input.recursive)
	}
	before := c.Problems
	stored := c.Index(c.ReadLive(live, f.input.recursive), manifest.Everything)
	stored.Complete = c.Problems == before
	return stored, f.schemas, slices.Concat(given.definitions, stored.Definitions), nil
}
