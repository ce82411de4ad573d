package schemafile

import (
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// The target forms of conversions.
const (
	SMDForm     = "smd"
	OpenAPIForm = "openapi"
	CrdForm     = "crd"
)

// OpenAPIWriter writes schemas in the form of OpenAPI v3.
type OpenAPIWriter struct {
	*types.Library
	Where notice.Position
	typ   string // the current type
	raw   bool   // whether rawExtension is needed
}

// rawExtension is the type of Kubernetes for any value as one leaf.
const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

func object1(name string, v value.Value) value.Value {
	return value.Object(value.Member{Name: name, Value: v})
}

// Convert returns f as an OpenAPI document, and warns about parts that OpenAPI cannot express.
func (w *OpenAPIWriter) Convert(f *File) value.Value {
	schemas := value.Object()
	for _, t := range f.Document.Types {
		if t.Name == schema.DeducedName || t.Name == schema.UntypedAtomicName {
			continue // OpenAPI writes them without a name
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

// kindsOf returns the kinds of the type called name.
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

// atom returns the schema of a. A schema has one type, or no type, which admits everything.
func (w *OpenAPIWriter) atom(a schema.Atom) value.Value {
	out := value.Object()
	several := (a.List != nil && a.Map != nil) || a.Scalar != schema.None && (a.List != nil || a.Map != nil)
	switch {
	case several:
		if a.Scalar != schema.Untyped {
			w.Warn(w.Where, "type %q: OpenAPI cannot say that a value is one of several kinds; any is admitted", w.typ)
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

func (w *OpenAPIWriter) scalar(s schema.Scalar) value.Value {
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

func (w *OpenAPIWriter) list(out value.Value, l *schema.ListDef) value.Value {
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

func (w *OpenAPIWriter) object(out value.Value, m *schema.MapDef) value.Value {
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
	case m.ElementType != (schema.TypeRef{}):
		out = out.With("additionalProperties", w.ref(m.ElementType))
	default:
		out = out.With("additionalProperties", value.Bool(false))
	}
	if m.Relationship == schema.Atomic {
		out = out.With("x-kubernetes-map-type", value.String("atomic"))
	}
	return out
}

// ref returns the schema that r refers to.
func (w *OpenAPIWriter) ref(r schema.TypeRef) value.Value {
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
	w.Warn(w.Where, "type %q: OpenAPI cannot say that a list is %s where it is referred to", w.typ, r.Relationship)
	return out
}
