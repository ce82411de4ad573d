package schemafile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

const (
	preserveKeyword = "x-kubernetes-preserve-unknown-fields"
	metadataType    = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

// definitionWriter writes types as structural schemas. These have no names, so every type is written where it is used.
type definitionWriter struct {
	root *schema.Type
	open []*schema.Type // the types around the current place
	err  error          // the first error
}

func (w *definitionWriter) fail(t *schema.Type, path, format string, args ...any) value.Value {
	if w.err == nil {
		if name := t.Name(); name != "" && t != w.root {
			path += fmt.Sprintf(" (type %q)", name)
		}
		reason := strings.TrimPrefix(path+": ", ": ") + fmt.Sprintf(format, args...)
		w.err = fmt.Errorf("%s; a CustomResourceDefinition cannot say this", reason)
	}
	return value.Value{}
}

// schema returns the schema of t, which is at path. preserve says that everything around t, and therefore everything inside, preserves
// unknown fields.
func (w *definitionWriter) schema(t *schema.Type, path string, preserve bool) value.Value {
	switch any, atomic := isAnything(t); {
	case any && atomic:
		return object1(preserveKeyword, value.Bool(true)).With("x-kubernetes-map-type", value.String("atomic"))
	case any:
		return object1(preserveKeyword, value.Bool(true))
	case t.Err() != nil:
		return w.fail(t, path, "%s", secret.Open.Error(t.Err()))
	case slices.Contains(w.open, t):
		return w.fail(t, path, "the type contains itself")
	}
	w.open = append(w.open, t)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	list, object := t.List(), t.Map()
	switch {
	case list == nil && object == nil:
		return scalarSchema(t.Scalar())
	case list == nil && t.Scalar() == schema.None:
		return w.resource(t, path, preserve)
	case object == nil && t.Scalar() == schema.None:
		return w.list(list, path, preserve).With("type", value.String("array"))
	}
	return w.fail(t, path, "a value is one of several kinds")
}

func scalarSchema(s schema.Scalar) value.Value {
	switch s {
	case schema.Numeric:
		return object1("type", value.String("number"))
	case schema.String:
		return object1("type", value.String("string"))
	case schema.Boolean:
		return object1("type", value.String("boolean"))
	}
	return object1("x-kubernetes-int-or-string", value.Bool(true))
}

func (w *definitionWriter) list(l *schema.List, path string, preserve bool) value.Value {
	items := w.schema(l.Element(), path+"[]", preserve)
	topology := map[schema.Topology]string{schema.AtomicList: "atomic", schema.SetList: "set", schema.KeyedList: "map"}[l.Topology()]
	if topology == "" {
		return w.fail(l.Element(), path, "the list has no topology")
	}
	out := object1("x-kubernetes-list-type", value.String(topology))
	var keys, required []value.Value
	for _, k := range l.Keys() {
		keys = append(keys, value.String(k.Name))
		if k.Default.IsAbsent() {
			required = append(required, value.String(k.Name))
		}
	}
	if len(keys) > 0 {
		out = out.With("x-kubernetes-list-map-keys", value.List(keys...))
	}
	if len(required) > 0 && items.Kind() == value.KindObject {
		items = items.With("required", value.List(required...))
	}
	return out.With("items", items)
}

// resource returns the schema of an object that may be a resource: the root, or an embedded one.
func (w *definitionWriter) resource(t *schema.Type, path string, preserve bool) value.Value {
	m := t.Map()
	if m == nil {
		return w.fail(t, path, "it is no object")
	}
	out := object1("type", value.String("object"))
	if m.Atomic() {
		out = out.With("x-kubernetes-map-type", value.String("atomic"))
	}
	isRoot, embedded := t == w.root, isResource(m)
	if embedded && !isRoot {
		out = out.With("x-kubernetes-embedded-resource", value.Bool(true))
	}
	switch any, atomic := element(m); {
	case any && !atomic:
		out, preserve = out.With(preserveKeyword, value.Bool(true)), true
	case m.Element() != nil && len(m.Fields()) > 0:
		return w.fail(t, path, "there are declared fields and others of a certain type")
	case m.Element() != nil:
		return out.With("additionalProperties", w.schema(m.Element(), path+".*", preserve))
	case len(m.Fields()) == 0, preserve:
		return w.fail(t, path, "there must be no other fields than those declared")
	}
	if properties := w.properties(m, path, preserve, isRoot, embedded); properties.Len() > 0 {
		out = out.With("properties", properties)
	}
	return out
}

func (w *definitionWriter) properties(m *schema.Map, path string, preserve, isRoot, embedded bool) value.Value {
	properties := value.Object()
	for _, f := range m.Fields() {
		if isResourceField(f.Name) && (isRoot || embedded) {
			kind := map[bool]string{true: "object", false: "string"}[f.Name == "metadata"]
			properties = properties.With(f.Name, object1("type", value.String(kind)))
			continue
		}
		p := w.schema(f.Type, path+"."+f.Name, preserve)
		if !f.Default.IsAbsent() && !p.IsAbsent() {
			p = p.With("default", f.Default)
		}
		if !p.IsAbsent() {
			properties = properties.With(f.Name, p)
		}
	}
	return properties
}

// isResourceField reports whether all resources have the field called name with a fixed type.
func isResourceField(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// isResource reports whether m has the metadata of a resource.
func isResource(m *schema.Map) bool {
	t, declared := m.Lookup("metadata")
	return declared && t.Name() == metadataType
}

// element reports whether the undeclared members of m may have any value, and whether objects are then atomic.
func element(m *schema.Map) (ok, atomic bool) {
	if m.Element() == nil {
		return false, false
	}
	return isAnything(m.Element())
}

// isAnything reports whether t admits every value, and whether objects are then atomic.
func isAnything(t *schema.Type) (ok, atomic bool) {
	l, m := t.List(), t.Map()
	if t.Scalar() != schema.Untyped || l == nil || m == nil ||
		l.Topology() != schema.AtomicList || len(m.Fields()) > 0 || m.Element() == nil {
		return false, false
	}
	if e := m.Element(); e != t && e != schema.Deduced && e.Name() != schema.DeducedName && e.Name() != schema.UntypedAtomicName {
		return false, false
	}
	return true, m.Atomic()
}

// differs returns the first path at which values of types a and b are merged in different ways, empty if there is none. It ignores the
// fields that all resources have, and which scalars an untyped scalar allows.
func differs(a, b *schema.Type, path string) string {
	anyA, atomicA := isAnything(a)
	anyB, atomicB := isAnything(b)
	switch {
	case anyA && anyB && atomicA == atomicB:
		return ""
	case a.Scalar() == schema.Untyped && a.List() == nil && a.Map() == nil && anyB:
		return "" // an integer or string
	case a.Scalar() != b.Scalar(), (a.List() == nil) != (b.List() == nil), (a.Map() == nil) != (b.Map() == nil):
		return cmp.Or(path, ".")
	}
	if l, m := a.List(), b.List(); l != nil {
		sameKey := func(x, y schema.Key) bool { return x.Name == y.Name && x.Default.Equal(y.Default) }
		if l.Topology() != m.Topology() || !slices.EqualFunc(l.Keys(), m.Keys(), sameKey) {
			return cmp.Or(path, ".")
		}
		if at := differs(l.Element(), m.Element(), path+"[]"); at != "" {
			return at
		}
	}
	if a.Map() != nil {
		return differentMaps(a.Map(), b.Map(), path)
	}
	return ""
}

func differentMaps(a, b *schema.Map, path string) string {
	if a.Atomic() != b.Atomic() || (a.Element() == nil) != (b.Element() == nil) {
		return cmp.Or(path, ".")
	}
	if a.Element() != nil {
		if at := differs(a.Element(), b.Element(), path+".*"); at != "" {
			return at
		}
	}
	before, after := fieldsByName(a), fieldsByName(b)
	for name, f := range after {
		_, known := before[name]
		if isResource(b) && isResourceField(name) {
			continue
		}
		if !known || !before[name].Default.Equal(f.Default) {
			return path + "." + name
		}
	}
	for _, f := range a.Fields() {
		g, known := after[f.Name]
		if !known {
			return path + "." + f.Name
		}
		if isResource(b) && isResourceField(f.Name) {
			continue
		}
		if at := differs(f.Type, g.Type, path+"."+f.Name); at != "" {
			return at
		}
	}
	return ""
}
