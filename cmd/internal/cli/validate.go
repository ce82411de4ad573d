package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/managedfields"
)

// validateFlags holds the flags of deed validate.
type validateFlags struct {
	stored storedFlags
	mode   choice
	format choice
	color  colorFlags
}

func (c *cli) validateCommand() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate [-f] FILE...",
		Short: "Find fields of objects that their schemas do not have, or that are of the wrong type",
		Long: `Find defects of objects by their schemas: unknown fields, values of the wrong
type, items of sets and keyed lists that occur twice or have no key, and names
that occur twice in an object. Each finding has a place, and an unknown field
has a similar known name.

Objects of built-in kinds are read as a server reads whole objects. Findings are
also values that do not fit into the Go type of their field, required texts that
are empty, texts that a field does not allow, and versions that are not served.
A server refuses more than that. The checks that are left out are named once,
and as notChecked in the other formats.

A CustomResourceDefinition whose schema cannot be read is invalid, and its
objects are not validated. So are objects of kinds without a schema.

With -o sarif, findings are printed for code scanning, and with -o junit as a
report of tests, with a test for each object. A file, a document or an object
that cannot be checked is a result there too, and an error of a test.

As in kubectl, --validate=warn turns unknown fields and duplicates into
warnings, and --validate=ignore leaves them out.`,
		Example: `  # Are all objects in a directory valid by their schemas?
  deed validate -R deploy
  deed validate web.yaml 'deploy/*.yaml'

  # With custom resources, for programs
  deed validate -f widget.yaml --crd widget-crd.yaml -o json`,
		RunE: func(*cobra.Command, []string) error { return c.validate(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.input.registerFor(flags, "objects")
	f.mode = choice{report.StrictMode, []string{report.StrictMode, report.WarnMode, report.IgnoreMode}}
	flags.Var(&f.mode, "validate", "how strict to be")
	flags.Lookup("validate").NoOptDefVal = report.StrictMode
	f.format = choice{report.FormatText, resultFormats}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// validate runs deed validate.
func (c *cli) validate(f validateFlags) error {
	names, err := c.inputs(f.stored.input)
	if err := errors.Join(err, checkStdin(names), f.stored.schemas.Check()); err != nil {
		return err
	}
	r := manifest.Everything
	r.Unnamed, r.Repeating = true, true
	objects := c.survey(c.read(names, f.stored.input), r)
	types := c.NewTypes(f.stored.schemas, objects.definitions...) // nil if nothing can be validated
	p := report.NewInvalidPrinter(c.out, f.format.value, f.mode.value, f.color.painter(c.out))
	for o := range objects.objects {
		defects, how := finding.Repetitions(o), report.NotValidated
		if types != nil {
			if e, ok := c.TypeOf(o, types, managedfields.Config{}); ok {
				how = report.Validated
				if e.MadeUp {
					how = report.Exempted
				}
				defects = append(defects, finding.Defects(o, e)...)
				slices.SortStableFunc(defects, func(a, b finding.Defect) int { return a.Where.Compare(b.Where) })
			}
		}
		if !p.Print(o, defects, how) {
			c.Raise(notice.ExitFinding)
		}
	}
	return c.end(p.Close(c.Notices))
}
