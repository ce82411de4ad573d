package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
)

// extractFlags holds the flags of deed extract.
type extractFlags struct {
	stored      storedFlags
	manager     string
	subresource string
	format      choice
}

func (c *cli) extractCommand() *cobra.Command {
	var f extractFlags
	cmd := &cobra.Command{
		Use:   "extract [TYPE/NAME...] -f LIVE [--field-manager NAME]",
		Short: "Get back the configuration that a manager applied",
		Long: `Get back from stored objects the configuration that a manager applied. Applying
it again would change nothing. Its values are the current values of the objects.

` + selectionUsage + `

Only appliers have a configuration. deed fields shows the fields of an updater,
and deed transfer gives them to an applier.`,
		Example: `  # What has kubectl applied?
  kubectl get deployment web -o yaml --show-managed-fields | deed extract

  # Does applying it again change anything?
  deed extract -f live.yaml --field-manager ci | deed apply --live live.yaml --field-manager ci`,
		RunE: func(*cobra.Command, []string) error { return c.extract(f) },
	}
	f.stored.chosen.take(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.StringVar(&f.manager, "field-manager", "kubectl", "the `name` of the manager that applied")
	flags.StringVar(&f.subresource, "subresource", "", "the `name` of the subresource that it applied through")
	f.format = choice{report.FormatYAML, []string{report.FormatYAML, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// extract runs deed extract.
func (c *cli) extract(f extractFlags) error {
	if err := dryrun.CheckManager(f.manager); err != nil {
		return err
	}
	objects, types, err := c.stored(f.stored)
	if err != nil || types == nil {
		return err
	}
	p := report.NewPrinter(c.out, f.format.value, false, objects.several)
	for o := range objects.objects {
		e, ok := c.TypeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		config, err := dryrun.Extract(o.Object, e, f.manager, f.subresource)
		switch {
		case err != nil:
			c.cannotExtract(o, e, err)
		case config.IsAbsent():
			c.Raise(notice.ExitFinding)
			fmt.Fprintf(c.Log, "%v: %v: not applied by %s; %s\n", o.At(), o, f.applier(), appliers(o))
		default:
			if version := dryrun.AppliedVersion(o.Object, f.manager, f.subresource); e.Versions[version] == nil && !e.Renamed {
				c.Warn(o.At(), "%v: %q applied it in %s, which is not known: the configuration has the same paths in %s",
					o, f.manager, version, o.GVK().APIVersion())
			}
			if o.View().Hides() {
				fmt.Fprintf(c.Log, "%v: %v: the configuration is printed with its secrets\n", o.At(), o)
			}
			if err := p.Print(managedfields.Object{Content: config}); err != nil {
				c.Problem(o.At(), "%v: %s", o, o.View().Error(err))
			}
		}
	}
	return c.end(p.Close())
}

func (f extractFlags) applier() string {
	if f.subresource != "" {
		return fmt.Sprintf("%q through the subresource %s", f.manager, f.subresource)
	}
	return fmt.Sprintf("%q", f.manager)
}

// appliers describes which managers have applied o.
func appliers(o *manifest.Object) string {
	var names []string
	for _, w := range manifest.OwnersOf(o) {
		if w.Manager.Operation == merge.Apply {
			name := wording.Manager(w.Manager.Name)
			if w.Manager.Subresource != "" {
				name += " through " + w.Manager.Subresource
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no manager has applied it"
	}
	slices.Sort(names)
	return "it was applied by " + strings.Join(names, ", ")
}

// cannotExtract reports why no configuration could be extracted from o.
func (c *cli) cannotExtract(o *manifest.Object, e *types.Endpoint, err error) {
	var defects typed.Errors
	if !errors.As(err, &defects) {
		c.EntryProblems(o, err)
		return
	}
	for _, d := range defects {
		c.Problem(o.DefectAt(d), "%v: %s", o, types.Explain(o, d, e.Typ))
	}
}
