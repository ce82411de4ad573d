package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selection"
)

// selectFlags holds the flags that select objects of the input. The arguments of the command select objects too, see [selectFlags.take].
type selectFlags struct{ selection.Query }

// selectionUsage is the part of the help that the commands with these flags share.
const selectionUsage = `To select among many objects, name them as for kubectl get: deployment/web,
deploy web or deployments.apps. Kinds of --crd and of definitions among the
objects have their short names too. --namespace, --name and -l also select.`

func (f *selectFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "only objects in the namespace called `name`, and objects without a namespace")
	flags.BoolVarP(&f.AllSpaces, "all-namespaces", "A", false, "with --live cluster, objects in all namespaces")
	flags.StringVar(&f.Name, "name", "", "only objects called `name`")
	flags.StringVarP(&f.Labels, "selector", "l", "", "only objects whose labels match `selector`, such as app=web,tier!=cache")
}

// take makes cmd accept objects as arguments.
func (f *selectFlags) take(cmd *cobra.Command) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		f.Arguments = args
		return nil
	}
}

// choose is [cli.survey] restricted to the objects that f selects. crds names the files with definitions. It returns a command line error,
// also if f selects no object.
func (c *cli) choose(texts []*manifest.Text, r manifest.Reader, f selectFlags, crds []string) (*survey, error) {
	s := c.survey(texts, r)
	if f.IsAll() {
		return s, nil
	}
	definitions := s.definitions
	if len(f.Arguments) > 0 {
		given, _ := c.quiet().DefinedBy(crds)
		definitions = append(given, definitions...)
	}
	chosen, err := selection.Of(f.Query, selection.NewNames(s.index, definitions...))
	if err != nil {
		return nil, err
	}
	s = c.streams(texts, chosen.Reader(r), s.index)
	for range s.quiet {
		if chosen.Found() > 1 {
			break
		}
	}
	if chosen.Found() == 0 && s.index.Count > 0 {
		return nil, chosen.None(s.index)
	}
	s.several = chosen.Found() > 1
	return s, nil
}
