package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// The forms that schemas are converted to.
const (
	smdForm     = "smd"
	openAPIForm = "openapi"
	crdForm     = "crd"
)

func (c *cli) schemaConvertCommand() *cobra.Command {
	f := convertFlags{
		to: choice{smdForm, []string{smdForm, openAPIForm, crdForm}}, format: choice{formatYAML, []string{formatYAML, formatJSON}},
	}
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Print a schema in another form",
		Long: `Print the schema in a file, CustomResourceDefinitions, an OpenAPI document (v2
or v3) or a schema of structured-merge-diff, in the form of
structured-merge-diff or as an OpenAPI v3 document. Only the structure is
converted, and how it is merged: nothing that validates. What the other form
cannot say is a warning.

--to crd prints one kind as a CustomResourceDefinition. Its schema has no names,
so no type can contain itself. What cannot be said there is an error. Plural and
scope, and which version is stored, are made up.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.schemaConvert(args[0], f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&f.to, "to", "the form to convert to")
	cmd.Flags().StringVar(&f.typeName, "type", "", "the `name` of the type to define, for --to crd")
	cmd.Flags().StringVar(&f.kind, "kind", "", "its `kind` as GROUP/VERSION/KIND, where the schema does not say")
	cmd.Flags().VarP(&f.format, "output", "o", "output format")
	return cmd
}

// convertFlags are those of deed schema convert.
type convertFlags struct {
	to, format     choice
	typeName, kind string
}

func (c *cli) schemaConvert(name string, flags convertFlags) error {
	if flags.to.value != crdForm && (flags.typeName != "" || flags.kind != "") {
		return errors.New("--type and --kind are for --to crd: the other forms have all types")
	}
	if name == builtinName {
		return errors.New("the built-in schema has no file: deed schema show KIND -o yaml prints what is needed for a kind")
	}
	f := schemaIn(c.library, name)
	if f == nil {
		return nil
	}
	v := f.document.Value()
	switch flags.to.value {
	case openAPIForm:
		w := openAPIWriter{where: inFile(name), library: c.library}
		v = w.convert(f)
	case crdForm:
		var err error
		if v, err = definitionOf(f, flags.typeName, flags.kind); err != nil {
			c.problem(inFile(name), "%v", err)
			return nil
		}
	}
	out := bufio.NewWriter(c.out)
	if flags.format.value == formatYAML {
		out.Write(yaml.Append(nil, v))
		return c.flush(out, nil)
	}
	var b bytes.Buffer
	err := json.Indent(&b, v.AppendJSON(nil), "", "    ")
	b.WriteByte('\n')
	out.Write(b.Bytes())
	return c.flush(out, err)
}

// openAPIWriter writes schemas as OpenAPI v3 has them.
type openAPIWriter struct {
	*library
	where position
	typ   string // that is being written
	raw   bool   // whether rawExtension is needed
}

// rawExtension is the type that Kubernetes has for any value as one leaf.
const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

func object1(name string, v value.Value) value.Value {
	return value.Object(value.Member{Name: name, Value: v})
}

func (w *openAPIWriter) convert(f *schemaFile) value.Value {
	schemas := value.Object()
	for _, t := range f.document.Types {
		if t.Name == schema.DeducedName || t.Name == schema.UntypedAtomicName {
			continue // OpenAPI has them without a name
		}
		w.typ = t.Name
		s := w.atom(t.Atom)
		if kinds := kindsOf(f.kinds, t.Name); kinds.Len() > 0 {
			s = s.With("x-kubernetes-group-version-kind", kinds)
		}
		schemas = schemas.With(t.Name, s)
	}
	if w.raw && schemas.Get(rawExtension).IsAbsent() {
		schemas = schemas.With(rawExtension, object1("type", value.String("object")))
	}
	info := object1("title", value.String("schemas")).With("version", value.String("v1"))
	return object1("openapi", value.String("3.0.0")).With("info", info).With("paths", value.Object()).
		With("components", object1("schemas", schemas))
}

// kindsOf returns the kinds that have the type called name.
func kindsOf(kinds []openapi.Kind, name string) value.Value {
	var out []value.Value
	for _, k := range kinds {
		if k.Type == name {
			out = append(out, object1("group", value.String(k.Group)).With("kind", value.String(k.Kind)).
				With("version", value.String(k.Version)))
		}
	}
	return value.List(out...)
}

// atom returns the schema of what a admits. A schema has one type or none, which admits everything.
func (w *openAPIWriter) atom(a schema.Atom) value.Value {
	out := value.Object()
	several := (a.List != nil && a.Map != nil) || a.Scalar != schema.None && (a.List != nil || a.Map != nil)
	switch {
	case several:
		if a.Scalar != schema.Untyped {
			w.warn(w.where, "type %q: OpenAPI cannot say that a value is one of several kinds; any is admitted", w.typ)
		}
	case a.List != nil:
		out = out.With("type", value.String("array"))
	case a.Map != nil:
		out = out.With("type", value.String("object"))
	default:
		return w.scalar(a.Scalar)
	}
	if a.List != nil {
		out = w.list(out, a.List)
	}
	if a.Map != nil {
		out = w.object(out, a.Map)
	}
	return out
}

func (w *openAPIWriter) scalar(s schema.Scalar) value.Value {
	switch s {
	case schema.Numeric:
		return object1("type", value.String("number"))
	case schema.String:
		return object1("type", value.String("string"))
	case schema.Boolean:
		return object1("type", value.String("boolean"))
	}
	return object1("type", value.String("string")).With("format", value.String("int-or-string"))
}

func (w *openAPIWriter) list(out value.Value, l *schema.ListDef) value.Value {
	topology := string(l.Relationship)
	switch {
	case l.Relationship == schema.Associative && len(l.Keys) > 0:
		topology = "map"
		keys := make([]value.Value, len(l.Keys))
		for i, k := range l.Keys {
			keys[i] = value.String(k)
		}
		out = out.With("x-kubernetes-list-map-keys", value.List(keys...))
	case l.Relationship == schema.Associative:
		topology = "set"
	}
	return out.With("items", w.ref(l.ElementType)).With("x-kubernetes-list-type", value.String(topology))
}

func (w *openAPIWriter) object(out value.Value, m *schema.MapDef) value.Value {
	if len(m.Fields) > 0 {
		properties := value.Object()
		for _, f := range m.Fields {
			p := w.ref(f.Type)
			if !f.Default.IsAbsent() {
				p = p.With("default", f.Default)
			}
			properties = properties.With(f.Name, p)
		}
		out = out.With("properties", properties)
	}
	switch {
	case m.ElementType.NamedType == schema.DeducedName:
		out = out.With("x-kubernetes-preserve-unknown-fields", value.Bool(true))
	case !m.ElementType.IsZero():
		out = out.With("additionalProperties", w.ref(m.ElementType))
	default:
		out = out.With("additionalProperties", value.Bool(false))
	}
	if m.Relationship == schema.Atomic {
		out = out.With("x-kubernetes-map-type", value.String("atomic"))
	}
	return out
}

// ref returns the schema of what r refers to.
func (w *openAPIWriter) ref(r schema.TypeRef) value.Value {
	switch r.NamedType {
	case "":
		return w.atom(r.Inlined)
	case schema.DeducedName:
		return object1("x-kubernetes-preserve-unknown-fields", value.Bool(true))
	case schema.UntypedAtomicName:
		r.NamedType, w.raw = rawExtension, true
	}
	out := object1("$ref", value.String("#/components/schemas/"+r.NamedType))
	switch r.Relationship {
	case "":
		return out
	case schema.Atomic, schema.Separable:
		topology := map[schema.Relationship]string{schema.Atomic: "atomic", schema.Separable: "granular"}[r.Relationship]
		return object1("allOf", value.List(out)).With("x-kubernetes-map-type", value.String(topology))
	}
	w.warn(w.where, "type %q: OpenAPI cannot say that a list is %s where it is referred to", w.typ, r.Relationship)
	return out
}
