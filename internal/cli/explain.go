package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// explainFlags are those of deed explain.
type explainFlags struct {
	stored storedFlags
	kind   string
	format choice
	color  colorFlags
}

func (c *cli) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain PATH [-f LIVE] [--kind KIND]",
		Short: "Explain one field: its type, its owners, what a conflict over it means",
		Long: `Explain all that there is to know about one path: its type, how it is merged and
where that is declared, who owns it, be it through an atomic list or object
above it, what is above and below it, and how to take it or to give it up.

A path is written as in conflicts: .spec.containers[name="web"].image. Keys that
have a default may be left out, and an item may be named by its place, as in
.spec.containers[0]. Without objects, --kind says what the path is in, and items
may be left out: .spec.containers.image.`,
		Example: `  # Whose is the number of replicas?
  deed explain .spec.replicas -f live.yaml

  # How is a list merged, and what is in its items?
  deed explain .spec.template.spec.containers.ports --kind apps/v1/Deployment`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("one path is needed, such as .spec.replicas, but there are %s", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.explain(f, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.StringVar(&f.kind, "kind", "",
		"the `kind` that the path is in, such as apps/v1/Deployment or, for built-in ones, Deployment; of the objects, only those")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// explain is deed explain.
func (c *cli) explain(f explainFlags, text string) error {
	path, err := fieldpath.ParsePath(text)
	if err != nil {
		return err
	}
	if len(path) == 0 {
		return errors.New("the path is empty: say which field, such as .spec.replicas")
	}
	kind, err := parseKind(f.kind)
	if err != nil {
		return err
	}
	all, err := c.explanations(f, kind, path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == formatJSON {
		err = writeJSON(out, all)
	} else {
		for i, e := range all {
			if i > 0 {
				out.WriteString("\n")
			}
			e.print(out, f.color.painter(c.out))
		}
	}
	return c.flush(out, err)
}

// explanations returns what there is to say about path in kind, or in the objects.
func (c *cli) explanations(f explainFlags, kind schema.GVK, path fieldpath.Path) ([]*explanation, error) {
	all := []*explanation{}
	if len(f.stored.input.files) == 0 && f.kind != "" {
		if err := f.stored.schemas.check(); err != nil {
			return nil, err
		}
		types := c.newTypes(f.stored.schemas)
		if types == nil {
			return nil, nil
		}
		e, err := types.of(kind, managedfields.Config{})
		if err != nil {
			return nil, err
		}
		x, err := explainType(e, kind, path)
		return append(all, x), err
	}
	objects, types, err := c.stored(f.stored)
	if err != nil || types == nil {
		return nil, err
	}
	if f.kind != "" {
		objects = slices.DeleteFunc(objects, func(o *object) bool { return o.GVK() != kind })
		if len(objects) == 0 {
			return nil, fmt.Errorf("there is no %v in the input", kind)
		}
	}
	for _, o := range objects {
		e, ok := c.typeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		x, err := explainObject(c.library, o, e, path)
		if err != nil {
			c.problem(o.at(), "%v: %v", o, err)
			continue
		}
		all = append(all, x)
	}
	return all, nil
}

// parseKind reads APIVERSION/KIND, or the name of a built-in kind, which stands for its only stable version. No text is no
// kind.
func parseKind(text string) (schema.GVK, error) {
	if text == "" {
		return schema.GVK{}, nil
	}
	if i := strings.LastIndex(text, "/"); i >= 0 {
		if gvk := schema.ParseGVK(text[:i], text[i+1:]); gvk.Version != "" && gvk.Kind != "" {
			return gvk, nil
		}
		return schema.GVK{}, fmt.Errorf("%q is no kind: write apps/v1/Deployment or v1/Pod", text)
	}
	return builtinKind(text)
}

// builtinKind returns the kind called name, whatever its case.
func builtinKind(text string) (schema.GVK, error) {
	var found, names []string
	var stable []schema.GVK
	var gvk schema.GVK
	for known := range builtin.Catalog().Kinds() {
		names = append(names, known.Kind)
		if strings.EqualFold(known.Kind, text) {
			gvk, found = known, append(found, known.APIVersion()+"/"+known.Kind)
			if !strings.ContainsAny(known.Version, "ab") { // alpha, beta
				stable = append(stable, known)
			}
		}
	}
	switch {
	case len(found) == 1:
		return gvk, nil
	case len(stable) == 1:
		return stable[0], nil
	case len(found) > 1:
		return gvk, fmt.Errorf("%s is in several versions: say which of %s", text, strings.Join(found, ", "))
	}
	hint := ""
	if meant := nearest(text, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return gvk, fmt.Errorf("no kind called %q is built in: name others as APIVERSION/KIND%s", text, hint)
}
