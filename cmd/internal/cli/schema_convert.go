package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/secret"
)

func (c *cli) schemaConvertCommand() *cobra.Command {
	f := convertFlags{
		to: choice{schemafile.SMDForm, []string{schemafile.SMDForm, schemafile.OpenAPIForm, schemafile.CrdForm}}, format: choice{report.FormatYAML, []string{report.FormatYAML, report.FormatJSON}},
	}
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Print a schema in another form",
		Long: `Print the schema in a file, CustomResourceDefinitions, an OpenAPI document (v2
or v3) or a schema of structured-merge-diff, in the form of
structured-merge-diff or as an OpenAPI v3 document. Only the structure and the
rules of merging are converted, not the validation. Everything that the other
form cannot express is a warning.

--to crd prints one kind as a CustomResourceDefinition. Its schema has no named
types, so no type can contain itself. Everything that a definition cannot
express is an error. Plural, scope and the stored version are made up.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaConvert(args[0], f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&f.to, "to", "the form to convert to")
	cmd.Flags().StringVar(&f.typeName, "type", "", "the `name` of the type to define, for --to crd")
	cmd.Flags().StringVar(&f.kind, "kind", "", "its `kind` as GROUP/VERSION/KIND, if the schema lacks it")
	cmd.Flags().VarP(&f.format, "output", "o", "output format")
	return cmd
}

// convertFlags holds the flags of deed schema convert.
type convertFlags struct {
	to, format     choice
	typeName, kind string
}

func (c *cli) schemaConvert(name string, flags convertFlags) error {
	if flags.to.value != schemafile.CrdForm && (flags.typeName != "" || flags.kind != "") {
		return errors.New("--type and --kind are for --to crd: the other forms have all types")
	}
	if name == schemafile.BuiltinName {
		return fmt.Errorf("the built-in schema has no file. This prints what one kind of it needs:\n  %s",
			c.remedy("schema show", []string{"apps/v1/Deployment"}, given{"output", []string{report.FormatYAML}}))
	}
	f := schemafile.Read(c.Library, name)
	if f == nil {
		return nil
	}
	v := f.Document.Value()
	switch flags.to.value {
	case schemafile.OpenAPIForm:
		w := schemafile.OpenAPIWriter{Where: notice.InFile(name), Library: c.Library}
		v = w.Convert(f)
	case schemafile.CrdForm:
		var err error
		if v, err = schemafile.DefinitionOf(f, flags.typeName, flags.kind); err != nil {
			c.Problem(notice.InFile(name), "%s", secret.Open.Error(err))
			return nil
		}
	}
	out := bufio.NewWriter(c.out)
	if flags.format.value == report.FormatYAML {
		out.Write(secret.Public(v).AppendYAML(nil))
		return c.flush(out, nil)
	}
	var b bytes.Buffer
	err := json.Indent(&b, secret.Public(v).AppendJSON(nil), "", "    ")
	b.WriteByte('\n')
	out.Write(b.Bytes())
	return c.flush(out, err)
}
