package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
)

// schemaShowFlags are those of deed schema show.
type schemaShowFlags struct {
	schemas schemaFlags
	depth   int
	format  choice
}

func (c *cli) schemaShowCommand() *cobra.Command {
	var f schemaShowFlags
	cmd := &cobra.Command{
		Use:   "show KIND|TYPE",
		Short: "Show how the values of a type are merged",
		Long: `Show the fields of a kind, such as apps/v1/Deployment, or of a type, such as
io.k8s.api.core.v1.Container, and how each is merged. -o yaml is the type, with
all types that it needs, as a schema of structured-merge-diff.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaShow(f, args[0]) },
	}
	cmd.Flags().SortFlags = false
	kindFlags(cmd, &f.schemas)
	cmd.Flags().StringVar(&f.schemas.schema, "schema", "",
		"`file` with a schema in the form of structured-merge-diff, to show a type of")
	cmd.Flags().IntVar(&f.depth, "depth", 2, "how many `levels` of fields to show; 0 means all, each type once")
	f.format = choice{formatText, []string{formatText, formatYAML}}
	cmd.Flags().VarP(&f.format, "output", "o", "output format")
	return cmd
}

func (c *cli) schemaShow(f schemaShowFlags, name string) error {
	t, from, err := typeNamed(c.library, f.schemas, name)
	if err != nil || t == nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	if f.format.value == formatYAML {
		out.Write(yaml.Append(nil, documentOf(t).Value()))
		return c.flush(out, nil)
	}
	fmt.Fprintf(out, "%s: %s\n  schema: %s\n", name, shape(t), from)
	p := typePrinter{out: out, depth: f.depth, seen: map[*schema.Type]bool{}}
	p.fields(t, 1)
	return c.flush(out, nil)
}

// typeNamed returns the type of a kind, or the type called name.
func typeNamed(c *library, f schemaFlags, name string) (*schema.Type, string, error) {
	if f.schema != "" {
		t, ok := c.typeIn(f.schema, name)
		if !ok {
			return nil, "", nil
		}
		return t, f.schema, nil
	}
	kinds, ok := knownKinds(c, f)
	if !ok {
		return nil, "", nil
	}
	for _, k := range kinds {
		if k.APIVersion()+"/"+k.Kind == name {
			return k.typ, k.from, nil
		}
	}
	if !strings.ContainsAny(name, "/.") {
		if gvk, err := builtinKind(name); err != nil {
			return nil, "", err
		} else if t, from, err := typeNamed(c, f, gvk.APIVersion()+"/"+gvk.Kind); err == nil {
			return t, from, nil
		}
	}
	return typeCalled(kinds, name)
}

// typeCalled returns the type called name among those that the kinds are made of.
func typeCalled(kinds []knownKind, name string) (*schema.Type, string, error) {
	var names []string
	found := map[string]knownKind{}
	for _, k := range kinds {
		names = append(names, k.APIVersion()+"/"+k.Kind)
		eachType(k.typ, func(t *schema.Type) {
			if _, known := found[t.Name()]; !known && t.Name() != "" {
				names = append(names, t.Name())
				found[t.Name()] = knownKind{typ: t, from: k.from}
			}
		})
	}
	if k, ok := found[name]; ok {
		return k.typ, k.from, nil
	}
	hint := ""
	if meant := nearest(name, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return nil, "", fmt.Errorf("there is no kind and no type %q: write kinds as apps/v1/Deployment%s", name, hint)
}

// eachType calls f for t and every type that its values consist of, once.
func eachType(t *schema.Type, f func(*schema.Type)) {
	seen := map[*schema.Type]bool{}
	var walk func(*schema.Type)
	walk = func(t *schema.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		f(t)
		if l := t.List(); l != nil {
			walk(l.Element())
		}
		if m := t.Map(); m != nil {
			for _, field := range m.Fields() {
				walk(field.Type)
			}
			walk(m.Element())
		}
	}
	walk(t)
}

// typePrinter prints types as trees.
type typePrinter struct {
	out   *bufio.Writer
	depth int
	seen  map[*schema.Type]bool // that are printed already, in trees without an end
}

// fields prints what values of type t have in them.
func (p *typePrinter) fields(t *schema.Type, level int) {
	if p.depth > 0 && level > p.depth || isDeduced(t) {
		return
	}
	indent := strings.Repeat("  ", level)
	if p.depth == 0 && t.Map() != nil {
		if p.seen[t] && t.Name() != "" {
			fmt.Fprintf(p.out, "%s… as above\n", indent)
			return
		}
		p.seen[t] = true
	}
	if l := t.List(); l != nil {
		if l.Element().Map() != nil {
			p.fields(l.Element(), level)
		}
		return
	}
	m := t.Map()
	if m == nil {
		return
	}
	for _, f := range m.Fields() {
		fallback := ""
		if !f.Default.IsAbsent() {
			fallback = ", " + show(f.Default) + " by default"
		}
		fmt.Fprintf(p.out, "%s%s: %s%s\n", indent, f.Name, shape(f.Type), fallback)
		p.fields(f.Type, level+1)
	}
	if e := m.Element(); e != nil && !isDeduced(e) {
		fmt.Fprintf(p.out, "%s*: %s\n", indent, shape(e))
		p.fields(e, level+1)
	}
}

func isDeduced(t *schema.Type) bool { return t == schema.Deduced || t.Name() == schema.DeducedName }

// shape says in few words which values t admits and how they are merged.
func shape(t *schema.Type) string {
	if isDeduced(t) {
		return "any value"
	}
	text := kinds(t)
	if l := t.List(); l != nil && text == "list" {
		item := kinds(l.Element())
		switch l.Topology() {
		case schema.AtomicList:
			text = "atomic list of " + item
		case schema.SetList:
			text = "set of " + item
		case schema.KeyedList:
			text = "list of " + item + " by " + keyNames(l.Keys())
		}
		t = l.Element()
	} else if m := t.Map(); m != nil && m.Atomic() && text == "object" {
		text = "atomic object"
	}
	if name := t.Name(); name != "" && !strings.HasPrefix(name, "__untyped") {
		text += " (" + quoteUnlessPlain(name) + ")"
	}
	return text
}
