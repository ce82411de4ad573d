package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
)

func (c *cli) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "List, show, convert and compare schemas",
		Long: `List, show, convert and compare schemas: which kinds there are, how the values
of a type are merged, the same schema in another form, and what a change of a
schema means for the owners of objects.`,
		Example: `  # Which kinds of workloads are built in, and how is a pod merged?
  deed schema list apps/v1
  deed schema show v1/Pod --depth 3

  # A CustomResourceDefinition as structured-merge-diff has schemas
  deed schema convert crd.yaml

  # What does the new version of a definition change, and for the owners of the objects that there are?
  deed schema diff crd.yaml crd-new.yaml --live live.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.schemaListCommand(), c.schemaShowCommand(), c.schemaConvertCommand(), c.schemaDiffCommand())
	return cmd
}

// knownKind is a kind with its type.
type knownKind struct {
	schema.GVK
	typ  *schema.Type
	from string
}

// knownKinds returns the kinds in the schemas that f names and those that are built in, sorted. Of two types of a kind, the
// one that counts is returned.
func knownKinds(c *library, f schemaFlags) (all []knownKind, ok bool) {
	before := c.problems
	seen := map[schema.GVK]bool{}
	add := func(catalog *schema.Catalog, from string) {
		for gvk, t := range catalog.Kinds() {
			if !seen[gvk] {
				seen[gvk] = true
				all = append(all, knownKind{gvk, t, from})
			}
		}
	}
	definitions, _ := c.definedBy(f.crds)
	for _, o := range definitions {
		d, err := openapi.CRD(o.Content)
		if err != nil {
			eachError(err, func(err error) { c.problem(schemaPlace(o, err), "%v", err) })
			continue
		}
		catalog, err := d.Catalog()
		eachError(err, func(err error) { c.warn(o.at(), "%v", err) })
		add(catalog, fmt.Sprintf("defined at %v", o.at()))
	}
	if len(f.openAPI) > 0 {
		catalog, _ := c.catalogOf(f.openAPI)
		add(catalog, "published in "+strings.Join(f.openAPI, " and "))
	}
	add(builtin.Catalog(), "built in ("+kubernetesVersion+")")
	slices.SortFunc(all, func(a, b knownKind) int { return a.Compare(b.GVK) })
	return all, c.problems == before
}

// kindFlags are the schema flags of commands that are about kinds.
func kindFlags(cmd *cobra.Command, f *schemaFlags) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.crds, "crd", nil, "`file` or directory with CustomResourceDefinitions; repeatable")
	flags.StringArrayVar(&f.openAPI, "openapi", nil, "`file` or directory with OpenAPI documents, v2 or v3; repeatable")
}

type kindJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Type       string `json:"type"`
	Source     string `json:"source"`
}

func (c *cli) schemaListCommand() *cobra.Command {
	var f schemaFlags
	format := choice{formatText, []string{formatText, formatJSON}}
	cmd := &cobra.Command{
		Use:   "list [TEXT]",
		Short: "List the kinds that have a schema",
		Long: `List the kinds that have a schema, with the name of their type and where that is
from: those of --crd and --openapi, and those that are built in. With TEXT, only
those whose APIVERSION/KIND has TEXT in it.`,
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

func (c *cli) schemaList(f schemaFlags, format, text string) error {
	kinds, ok := knownKinds(c.library, f)
	if !ok {
		return nil
	}
	all := []kindJSON{}
	for _, k := range kinds {
		if name := k.APIVersion() + "/" + k.Kind; strings.Contains(strings.ToLower(name), text) {
			all = append(all, kindJSON{k.APIVersion(), k.Kind, k.typ.Name(), k.from})
		}
	}
	if len(all) == 0 {
		c.raise(exitFinding)
	}
	out := bufio.NewWriter(c.out)
	if format == formatJSON {
		return c.flush(out, writeJSON(out, all))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "APIVERSION\tKIND\tTYPE\tSCHEMA")
	for _, k := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", k.APIVersion, k.Kind, k.Type, k.Source)
	}
	return c.flush(out, t.Flush())
}
