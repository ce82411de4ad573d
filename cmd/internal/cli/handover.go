package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// handoverFlags holds the flags of the commands that hand fields over from one manager to another.
type handoverFlags struct {
	live    []string
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
	flags.StringArrayVar(&f.live, "live", nil,
		"`file` or directory with "+storedObjects+", or - for standard input, which is also read when there is no --live; repeatable")
	flags.StringArrayVarP(&f.configs.files, "filename", "f", nil,
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
The API server refuses a patch if the object has changed since. -o yaml and
-o json are the objects.`

// handovers calls hand for each object, one at a time, and prints the results. If there is no handover, hand reports why and returns nil.
func (c *cli) handovers(f handoverFlags, hand func(o *manifest.Object, config *manifest.Object, e *types.Endpoint) *dryrun.Handover) error {
	input := f.configs
	input.files, input.kustomize, input.flag = f.live, nil, "live"
	names, err := c.inputs(input)
	if errors.Is(err, errNoInput) {
		return f.chosen.NoInput(errors.New("no input: name the stored objects with --live, or pipe them in"))
	}
	if err := errors.Join(err, checkStdin(names, f.configs.files), f.schemas.Check()); err != nil {
		return err
	}
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	objects, err := c.choose(c.read(names, input), manifest.Everything, f.chosen, f.schemas.Crds)
	if err != nil {
		return err
	}
	if f.format.value == formatPatch && objects.several {
		return fmt.Errorf("-o patch prints the patch of one object, and there are several. This prints a command for each:\n  %s",
			c.remedy(c.running.Name(), f.chosen.Arguments, given{"output", []string{formatKubectl}}))
	}
	r := manifest.Everything
	r.Fallback = f.chosen.Name
	configs := c.Index(c.read(f.configs.files, f.configs), r)
	types := c.NewTypes(f.schemas, slices.Concat(objects.definitions, configs.Definitions)...)
	if types == nil {
		return nil
	}
	targets := dryrun.Targets(c.Library, objects.index, configs, f.chosen.Namespace)
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
		if h := hand(o, config, e); h != nil {
			out.print(h)
		}
	}
	return out.close()
}
