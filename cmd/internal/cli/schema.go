package cli

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
)

func (c *cli) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "List, show, convert and compare schemas",
		Long: `List, show, convert and compare schemas: the known kinds, how the values of a
type are merged, the same schema in another form, and the effect of a change of
a schema on the owners of objects.`,
		Example: `  # Which kinds of workloads are built in, and how is a pod merged?
  deed schema list apps/v1
  deed schema show v1/Pod --depth 3

  # A CustomResourceDefinition as structured-merge-diff has schemas
  deed schema convert crd.yaml

  # What does the new version of a definition change, also for the owners of stored objects?
  deed schema diff crd.yaml crd-new.yaml --live live.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.schemaListCommand(), c.schemaShowCommand(), c.schemaConvertCommand(), c.schemaDiffCommand())
	return cmd
}

// kindFlags registers the schema flags of commands that take a kind.
func kindFlags(cmd *cobra.Command, f *types.Flags) {
	flags := cmd.Flags()
	flags.Var(list{&f.Crds}, "crd", "`file`, directory, archive or URL with CustomResourceDefinitions; repeatable")
	flags.Var(list{&f.OpenAPI}, "openapi", "`file` or directory with OpenAPI documents, v2 or v3; repeatable")
	registerRelease(flags, f)
}

type kindJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Type       string `json:"type"`
	Source     string `json:"source"`
}

func (c *cli) schemaListCommand() *cobra.Command {
	var f types.Flags
	format := choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	cmd := &cobra.Command{
		Use:   "list [TEXT]",
		Short: "List the kinds that have a schema",
		Long: `List the kinds that have a schema, with the name and the source of their type:
the kinds of --crd and --openapi, and the built-in kinds. With TEXT, list only
kinds whose APIVERSION/KIND contains TEXT.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.schemaList(f, format.value, strings.ToLower(strings.Join(args, "")))
		},
	}
	cmd.Flags().SortFlags = false
	kindFlags(cmd, &f)
	cmd.Flags().VarP(&format, "output", "o", "output format")
	return cmd
}

func (c *cli) schemaList(f types.Flags, format, text string) error {
	kinds, ok := types.KnownKinds(c.Library, f)
	if !ok {
		return nil
	}
	all := []kindJSON{}
	for _, k := range kinds {
		if name := k.APIVersion() + "/" + k.Kind; strings.Contains(strings.ToLower(name), text) {
			all = append(all, kindJSON{k.APIVersion(), k.Kind, k.Typ.Name(), k.From})
		}
	}
	if len(all) == 0 {
		c.Raise(notice.ExitFinding)
	}
	out := bufio.NewWriter(c.out)
	if format == report.FormatJSON {
		return c.flush(out, report.WriteJSON(out, all))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "APIVERSION\tKIND\tTYPE\tSCHEMA")
	for _, k := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", k.APIVersion, k.Kind, k.Type, k.Source)
	}
	return c.flush(out, t.Flush())
}
