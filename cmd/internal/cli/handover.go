package cli

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/connect"
	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// handoverFlags holds the flags of the commands that hand fields over from one manager to another.
type handoverFlags struct {
	live    []string
	cluster clusterFlags
	listed  *inventoried // the objects of an inventory; nil without one
	configs inputFlags
	chosen  selectFlags
	schemas types.Flags
	put     putFlags
	format  choice
}

// The output formats of a patch: the JSON patch itself, and a kubectl command for each object.
const (
	formatPatch   = "patch"
	formatKubectl = "kubectl"
)

func (f *handoverFlags) registerInput(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.Var(list{&f.live}, "live",
		"`file` or directory with "+storedObjects+", or - for standard input, which is also read when there is no --live, or cluster for the cluster of the kubeconfig; repeatable")
	f.cluster.register(flags)
	flags.VarP(list{&f.configs.files}, "filename", "f",
		"`file` or directory with the configurations that the receiver will apply next, to see what that does; repeatable")
	f.configs.registerKustomize(flags)
	f.configs.registerReading(flags)
	f.chosen.register(flags)
}

func (f *handoverFlags) registerOutput(flags *pflag.FlagSet) {
	f.put.register(flags)
	f.format = choice{report.FormatText, []string{report.FormatText, formatPatch, formatKubectl, report.FormatYAML, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	registerSchemas(flags, &f.schemas)
}

// handoverRules is the part of the help that these commands share.
const handoverRules = selectionUsage + `

Nothing is changed unless --write is given: the output shows the owners before
and after. With -f, it also shows the next apply of the configurations by the
receiver: the fields that it removes, the fields that it keeps although the
configurations lack them, and its conflicts. Removals and conflicts are
findings.

-o kubectl prints a kubectl patch command for each object, for a shell to run,
and -o patch the JSON patch of one object alone, for kubectl patch --type=json.
If the object has a resourceVersion, the API server refuses the patch after
another change of the object. -o yaml and -o json are the objects.`

// handovers calls hand for each object, one at a time, and prints the results. If there is no handover, hand reports why and returns nil.
func (c *cli) handovers(f handoverFlags, hand func(o *manifest.Object, config *manifest.Object, e *types.Endpoint) *dryrun.Handover) error {
	if err := errors.Join(f.configs.use(c), f.schemas.Check()); err != nil {
		return err
	}
	texts := sync.OnceValue(func() []*manifest.Text { return c.read(f.configs.files, f.configs) })
	objects, err := c.handed(f, texts)
	if err != nil {
		return err
	}
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	if f.format.value == formatPatch && objects.several {
		return fmt.Errorf("-o patch prints the patch of one object, and there are several. This prints a command for each:\n  %s",
			c.remedy(c.running.Name(), f.chosen.Arguments, given{"output", []string{formatKubectl}}))
	}
	r := manifest.Everything
	r.Fallback = f.chosen.Name
	configs := c.Index(texts(), r)
	schemas, definitions, namespace := f.schemas, slices.Concat(objects.definitions, configs.Definitions), f.chosen.Namespace
	if k := objects.cluster; k != nil {
		schemas, definitions = k.schemas(schemas, definitions)
		namespace = k.namespace
	}
	types := c.NewTypes(schemas, definitions...)
	if types == nil {
		return nil
	}
	targets := dryrun.Targets(c.Library, objects.index, configs, namespace)
	now, err := clock()
	if err != nil {
		return err
	}
	out := c.newHandoverPrinter(f, objects.several, files)
	for o := range objects.objects {
		e, ok := c.TypeOf(o, types, managedfields.Config{Now: now})
		if !ok {
			continue
		}
		config, ok := targets.Of(o)
		if !ok {
			continue
		}
		if config != nil && config.GVK() != o.GVK() {
			dryrun.ReportVersion(c.Loader, o, config)
			continue
		}
		if h := hand(o, config, e); h != nil {
			out.print(h)
		}
	}
	return out.close()
}

// inventoried is an inventory in a cluster.
type inventoried struct {
	cluster *remote
	objects []reference
}

// handed returns the stored objects that f selects, from files or a cluster. configs returns the texts of the configurations. The error is one
// of the command line.
func (c *cli) handed(f handoverFlags, configs func() []*manifest.Text) (*survey, error) {
	if f.listed != nil {
		return c.handedFrom(f.listed.cluster, f.listed.cluster.listed(f.listed.objects)), nil
	}
	isCluster, err := f.cluster.isCluster(f.live, false)
	if err != nil {
		return nil, err
	}
	input := f.configs
	input.files, input.kustomize, input.flag = f.live, nil, "live"
	var names []string
	if !isCluster {
		if names, err = c.inputs(input); errors.Is(err, errNoInput) {
			err = f.chosen.NoInput(errors.New("no input: name the stored objects with --live, or pipe them in"))
			isCluster = len(f.chosen.Arguments) > 0 && f.chosen.NoInput(nil) == nil
		}
	}
	if isCluster {
		found, failed := c.handedInCluster(f, configs)
		if err == nil || !errors.Is(failed, connect.ErrNone) {
			return found, failed
		}
		err = fmt.Errorf("%w; and %w", err, failed)
	}
	if err := errors.Join(err, checkStdin(names, f.configs.files)); err != nil {
		return nil, err
	}
	return c.choose(c.read(names, input), manifest.Everything, f.chosen, f.schemas.Crds)
}

// handedInCluster is handed for the objects of a cluster: those that are named, or else those that the configurations are for.
func (c *cli) handedInCluster(f handoverFlags, configs func() []*manifest.Text) (*survey, error) {
	k, err := f.cluster.open(c, f.configs, f.chosen.Namespace)
	if err != nil {
		return nil, err
	}
	var texts []*manifest.Text
	if len(f.chosen.Arguments) > 0 || !f.configs.any() {
		texts, err = k.chosen(f.chosen.Query)
	} else {
		texts, _ = k.forConfigs(c.survey(configs(), manifest.Everything))
	}
	if err != nil {
		return nil, err
	}
	return c.handedFrom(k, texts), nil
}

// handedFrom returns the objects in texts, which are from k.
func (c *cli) handedFrom(k *remote, texts []*manifest.Text) *survey {
	found := c.survey(texts, manifest.Everything)
	found.cluster = k
	return found
}
