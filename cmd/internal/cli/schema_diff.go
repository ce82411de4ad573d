package cli

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// schemaDiffFlags holds the flags of deed schema diff.
type schemaDiffFlags struct {
	live   []string
	input  inputFlags
	format choice
}

func (c *cli) schemaDiffCommand() *cobra.Command {
	var f schemaDiffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two schemas, and show the effect on owners of objects",
		Long: `Compare two schemas, each a file with CustomResourceDefinitions, an OpenAPI
document or a schema of structured-merge-diff, or the word builtin: which fields
come and go, which values change their type, and which lists and objects are
merged in another way.

With --live, also show how the owners of stored objects change with the next
write: fields that were owned as a whole and become granular, or the other way
round, and fields that the new schema does not admit.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaDiff(f, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(list{&f.live}, "live", "`file` or directory with "+storedObjects+", or - for standard input; repeatable")
	f.input.registerReading(flags)
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	return cmd
}

func (c *cli) schemaDiff(f schemaDiffFlags, oldName, newName string) error {
	if err := errors.Join(f.input.use(c), checkStdin([]string{oldName, newName}, f.live)); err != nil {
		return err
	}
	if oldName == schemafile.BuiltinName && newName == schemafile.BuiltinName {
		return errors.New("these are the same schema")
	}
	old, new := schemafile.Read(c.Library, oldName), schemafile.Read(c.Library, newName)
	if old == nil || new == nil {
		return nil
	}
	changes, hidden := schemafile.Compare(old, new)
	var owners []entries.Change
	for o := range c.Stream(c.ReadLive(f.live, f.input.recursive), manifest.Everything) {
		e, err := entries.Of(o)
		c.EntryProblems(o, err)
		owners = append(owners, e.Under(old.Catalog, new.Catalog)...)
	}
	if hidden > 0 {
		fmt.Fprintf(c.Log, "%s between defaults not shown, because OpenAPI v2 has none\n", wording.Plural(hidden, "difference"))
	}
	if len(changes)+len(owners) > 0 {
		c.Raise(notice.ExitFinding)
	}
	return c.end(report.WriteSchemaDiff(bufio.NewWriter(c.out), f.format.value, changes, owners))
}
