package cli

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// explainFlags holds the flags of deed explain.
type explainFlags struct {
	stored storedFlags
	kind   string
	format choice
	color  colorFlags
}

func (c *cli) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [TYPE/NAME...] PATH [-f LIVE] [--kind KIND]",
		Short: "Explain one field: its type, its owners, what a conflict over it means",
		Long: `Explain one path: its type, how it is merged and where that is declared, its
owners, also those of an atomic list or object above it, the fields above and
below it, and how to take it or to give it up.

` + selectionUsage + `

A path is written as it is printed: .spec.containers[name="web"].image. Keys that
have a default may be left out, and an item may be named by its index, as in
.spec.containers[0]. Without objects, --kind names the kind that has the path,
and items may be left out: .spec.containers.image.`,
		Example: `  # Whose is the number of replicas?
  deed explain .spec.replicas -f live.yaml
  kubectl get deployments -o yaml --show-managed-fields | deed explain deployment/web .spec.replicas

  # How is a list merged, and what is in its items?
  deed explain .spec.template.spec.containers.ports --kind apps/v1/Deployment`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("a path is needed, such as .spec.replicas")
			}
			f.stored.chosen.Arguments = args[:len(args)-1]
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.explain(f, args[len(args)-1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.StringVar(&f.kind, "kind", "",
		"the `kind` that the path is in, such as apps/v1/Deployment or deploy; of the objects, only those")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// explain runs deed explain.
func (c *cli) explain(f explainFlags, text string) error {
	path, err := selector.Parse(text)
	if err != nil {
		return err
	}
	definitions, _ := c.quiet().DefinedBy(f.stored.schemas.Crds)
	kind, err := types.ParseKind(f.kind, definitions...)
	if err != nil {
		return err
	}
	all, err := c.explanations(f, kind, path)
	if err != nil {
		return err
	}
	return c.end(report.WriteExplanations(bufio.NewWriter(c.out), f.format.value, all, f.color.painter(c.out)))
}

// explanations returns the explanations of path in kind, or in the objects of the input.
func (c *cli) explanations(f explainFlags, kind schema.GVK, path selector.Selector) ([]*explain.Explanation, error) {
	fromCluster, err := f.stored.isCluster()
	if err != nil {
		return nil, err
	}
	if !f.stored.input.any() && len(f.stored.live) == 0 && !fromCluster && f.kind != "" {
		if err := f.stored.schemas.Check(); err != nil {
			return nil, err
		}
		types := c.NewTypes(f.stored.schemas)
		if types == nil {
			return nil, nil
		}
		e, err := types.Of(kind, managedfields.Config{})
		if err != nil {
			return nil, err
		}
		x, err := explain.InKind(e, kind, path)
		return []*explain.Explanation{x}, err
	}
	objects, types, err := c.stored(f.stored)
	if err != nil || types == nil {
		return nil, err
	}
	var all []*explain.Explanation
	found := f.kind == ""
	for o := range objects.objects {
		if f.kind != "" && o.GVK() != kind {
			continue
		}
		found = true
		e, ok := c.TypeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		here, err := explain.InObject(c.Library, o, e, path)
		if err != nil {
			c.Problem(o.At(), "%v: %s", o, o.View().Error(err))
			continue
		}
		all = append(all, here...)
	}
	if !found {
		return nil, fmt.Errorf("there is no %v in the input", kind)
	}
	return all, nil
}
