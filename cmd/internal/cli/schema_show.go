package cli

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
)

// schemaShowFlags holds the flags of deed schema show.
type schemaShowFlags struct {
	schemas types.Flags
	depth   int
	format  choice
}

func (c *cli) schemaShowCommand() *cobra.Command {
	var f schemaShowFlags
	cmd := &cobra.Command{
		Use:   "show KIND|TYPE",
		Short: "Show how the values of a type are merged",
		Long: `Show the fields of a kind, such as apps/v1/Deployment, or of a type, such as
io.k8s.api.core.v1.Container, and how each is merged. -o yaml prints the type,
with all types that it needs, as a schema of structured-merge-diff.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaShow(f, args[0]) },
	}
	cmd.Flags().SortFlags = false
	kindFlags(cmd, &f.schemas)
	cmd.Flags().StringVar(&f.schemas.Schema, "schema", "",
		"`file` with a schema in the form of structured-merge-diff, whose types can be shown")
	cmd.Flags().IntVar(&f.depth, "depth", 2, "how many `levels` of fields to show; 0 means all, each type once")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatYAML}}
	cmd.Flags().VarP(&f.format, "output", "o", "output format")
	return cmd
}

func (c *cli) schemaShow(f schemaShowFlags, name string) error {
	t, from, err := types.TypeNamed(c.Library, f.schemas, name)
	if err != nil || t == nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == report.FormatYAML {
		out.Write(secret.Public(schemafile.DocumentOf(t).Value()).AppendYAML(nil))
		return c.flush(out, nil)
	}
	fmt.Fprintf(out, "%s: %s\n  schema: %s\n", name, report.Shape(t), from)
	p := report.TypePrinter{Out: out, Depth: f.depth, Seen: map[*schema.Type]bool{}}
	p.Fields(t, 1)
	return c.flush(out, nil)
}
