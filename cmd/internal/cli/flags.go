package cli

import (
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
)

// applyingFlags holds the flags that control how configurations are applied.
type applyingFlags struct {
	force       dryrun.ForceFlags
	rules       string
	migration   bool
	noMigration bool
	upgrade     bool // see [dryrun.Apply]
}

func (f *applyingFlags) register(flags *pflag.FlagSet) {
	f.registerForce(flags)
	flags.BoolVar(&f.migration, "migration", false,
		"migrate objects of client-side apply as kubectl does as any field manager; else only the manager kubectl does")
	flags.BoolVar(&f.noMigration, "no-migration", false,
		"do not migrate objects of client-side apply; kubectl migrates them on apply")
}

// registerForce adds the flags that decide conflicts.
func (f *applyingFlags) registerForce(flags *pflag.FlagSet) {
	flags.BoolVar(&f.force.All, "force-conflicts", false, "take fields from their owners")
	flags.Var(list{&f.force.Fields}, "force-field",
		"take the fields at `path`, such as .spec.replicas or containers[*].image, and what is below, and no others; repeatable")
	flags.Var(list{&f.force.Managers}, "force-manager",
		"take fields from the manager called `name`, and no others; repeatable")
	flags.StringVar(&f.rules, "rules", "", "`file` with rules that say which fields to take, and which to leave, by object and manager")
}

// apply returns the apply of configurations by manager. It returns nil if the rules have defects, which it reports.
func (f *applyingFlags) apply(c *cli, manager string) (*dryrun.Apply, error) {
	if f.migration && f.noMigration {
		return nil, errors.New("--migration and --no-migration exclude each other")
	}
	if f.rules != "" {
		if f.force.Rules = dryrun.ReadRules(c.Loader, f.rules); f.force.Rules == nil {
			return nil, nil
		}
	}
	force, err := f.force.Force()
	if err != nil {
		return nil, err
	}
	return &dryrun.Apply{Manager: manager, Force: force, Migrate: f.migrators(), Upgrade: f.upgrade}, nil
}

// migrators returns the managers that migrate.
func (f *applyingFlags) migrators() dryrun.Migrators {
	switch {
	case f.noMigration:
		return dryrun.NoManager
	case f.migration:
		return dryrun.AnyManager
	}
	return dryrun.KubectlAlone
}

// outputFlags holds the flags that control how objects are printed.
type outputFlags struct {
	format      choice
	showManaged bool
}

func (f *outputFlags) register(flags *pflag.FlagSet) {
	f.format = choice{report.FormatYAML, []string{report.FormatYAML, report.FormatJSON, report.FormatName}}
	flags.VarP(&f.format, "output", "o", "output format")
	flags.BoolVar(&f.showManaged, "show-managed-fields", true, "print metadata.managedFields")
}

func (f outputFlags) printer(out io.Writer, list bool) *report.Printer {
	return report.NewPrinter(out, f.format.value, f.showManaged, list)
}

func registerSchemas(flags *pflag.FlagSet, f *types.Flags) {
	flags.Var(list{&f.Crds}, "crd",
		"`file`, directory, archive or URL with CustomResourceDefinitions; repeatable. Those among the objects are used anyway")
	flags.Var(list{&f.OpenAPI}, "openapi",
		"`file` or directory with OpenAPI documents, v2 or v3, of an API server; repeatable")
	flags.StringVar(&f.Schema, "schema", "",
		"`file` with a schema in the form of structured-merge-diff, for kinds that --crd and --openapi lack")
	flags.StringVar(&f.TypeName, "type", "", "the `name` of the type in --schema that such kinds have")
	registerRelease(flags, f)
	flags.BoolVar(&f.Schemaless, "schemaless", false,
		"treat kinds that no schema describes as objects whose lists are replaced as a whole")
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "say on standard error which schema describes each kind")
}

// registerRelease registers the flag that selects a release of Kubernetes.
func registerRelease(flags *pflag.FlagSet, f *types.Flags) {
	usage := "`release` of Kubernetes that answers, from 1.31 to 1.37: its built-in kinds, and how it merges"
	if f.Spans {
		usage += "; two, as 1.33..1.37, for what an upgrade changes"
	}
	flags.Func("kubernetes", usage, f.SelectRelease)
}
