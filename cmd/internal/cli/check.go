package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// checkFlags holds the flags of deed check.
type checkFlags struct {
	stored  storedFlags
	schemas bool
	all     bool
	ignore  []string
	format  choice
	color   colorFlags
}

func (c *cli) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [TYPE/NAME...] -f LIVE",
		Short: "Find what is wrong with managedFields, or will be soon",
		Long: `Find what is wrong with the managedFields of objects, or will be soon: entries
that cannot be read, paths that the schema or the object does not have, items
that a manager keeps without owning a field in them, fields that client-side
apply holds. Each finding has a code, a place, and advice.

` + selectionUsage + `

With --schemas, find also lists that are hard to share, in the given schemas and
in CustomResourceDefinitions among the objects: lists of objects that are atomic
only by default, and sets of objects. Keys are proposed from the fields of the
items.

With -o sarif, findings are printed for code scanning, and with -o junit as a
report of tests, with a test for each object.

Without a schema for a kind, only the findings that need no schema are printed.`,
		Example: `  # Is anything wrong with what the cluster stores?
  kubectl get deployments -A -o yaml --show-managed-fields | deed check

  # The same, without the findings on fields of client-side apply
  deed check -f live.yaml --ignore-code client-side-apply,before-first-apply

  # Will several managers be able to share the lists of these kinds?
  deed check --schemas --crd crd.yaml`,
		RunE: func(*cobra.Command, []string) error { return c.check(f) },
	}
	f.stored.chosen.take(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.BoolVar(&f.schemas, "schemas", false, "check the schemas too")
	flags.BoolVar(&f.all, "all", false, "print all findings, however many an object has of one code")
	flags.StringSliceVar(&f.ignore, "ignore-code", nil, "`codes` of findings to leave out; repeatable")
	f.format = choice{report.FormatText, resultFormats}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// resultFormats lists the output formats of findings: sarif is for code scanning, junit for test reports.
var resultFormats = []string{report.FormatText, report.FormatJSON, report.FormatSARIF, report.FormatJUnit}

// check runs deed check.
func (c *cli) check(f checkFlags) error {
	if err := f.checkIgnored(); err != nil {
		return err
	}
	if err := f.stored.schemas.Check(); err != nil {
		return err
	}
	p := report.NewFindingPrinter(c.out, f.format.value, f.ignore, f.all, f.color.painter(c.out))
	var definitions []*manifest.Object
	if !f.schemas || f.stored.input.any() || !f.stored.schemas.Any() {
		objects, types, err := c.stored(f.stored)
		if err != nil {
			return err
		}
		for o := range objects.objects {
			if p.Begin(o, types != nil); types != nil {
				p.Print(finding.OfObject(c.Library, o, types)...)
			}
		}
		definitions = objects.definitions
	}
	if f.schemas {
		lints, any := finding.OfSchemas(c.Library, f.stored.schemas, definitions)
		if !any && c.Problems == 0 {
			return errors.New("--schemas: there is no schema to check: name some with --crd, --openapi, or --schema and --type")
		}
		p.Print(lints...)
	}
	if p.Found > 0 {
		c.Raise(notice.ExitFinding)
	}
	return c.end(p.Close(c.Notices))
}

// checkIgnored returns an error for an unknown code, and for a code given to --ignore, which takes file patterns.
func (f checkFlags) checkIgnored() error {
	known := codeNames()
	for _, word := range strings.Split(strings.Join(f.stored.input.ignore, ","), ",") {
		if slices.Contains(known, word) {
			return fmt.Errorf("--ignore: %s is a code of findings: --ignore-code leaves these out, --ignore files", word)
		}
	}
	for _, code := range f.ignore {
		if !slices.Contains(known, code) {
			hint := ", only " + strings.Join(known, ", ")
			if meant := wording.Nearest(code, known); meant != "" {
				hint = fmt.Sprintf("; did you mean %q?", meant)
			}
			return fmt.Errorf("--ignore-code: there is no code %q%s", code, hint)
		}
	}
	return nil
}
