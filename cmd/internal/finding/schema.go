package finding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// The codes of findings about schemas.
const (
	atomicListCode ownership.Code = "atomic-list" // a list of objects is atomic only by default
	objectSetCode  ownership.Code = "object-set"  // the items of a set are objects
)

// OfSchemas returns the findings about lists that are hard to share, in the schemas of f and in the definitions among objects. any says
// whether there are any schemas.
func OfSchemas(c *types.Library, f types.Flags, objects []*manifest.Object) (found []Finding, any bool) {
	definitions, _ := c.DefinedBy(f.Crds)
	definitions = append(definitions, slices.DeleteFunc(slices.Clone(objects), func(o *manifest.Object) bool {
		return !types.IsDefinition(o.Content)
	})...)
	for _, o := range definitions {
		found = append(found, lintDefinition(c, o)...)
	}
	if len(f.OpenAPI) > 0 {
		catalog, _ := c.CatalogOf(f.OpenAPI)
		l := linter{where: notice.InFile(strings.Join(f.OpenAPI, " ")), subject: "OpenAPI", seen: map[*schema.Type]bool{}}
		for gvk, t := range catalog.Kinds() {
			l.kind = gvk.APIVersion() + " " + gvk.Kind
			l.walk(t, "", nil)
		}
		found = append(found, l.found...)
	}
	if f.Schema != "" {
		if t, ok := c.TypeIn(f.Schema, f.TypeName); ok {
			l := linter{where: notice.InFile(f.Schema), subject: "schema", seen: map[*schema.Type]bool{}, kind: f.TypeName}
			l.walk(t, "", nil)
			found = append(found, l.found...)
		}
	}
	return found, len(definitions) > 0 || len(f.OpenAPI) > 0 || f.Schema != ""
}

// lintDefinition returns the findings about the lists of the CustomResourceDefinition o.
func lintDefinition(c *types.Library, o *manifest.Object) []Finding {
	d, ok := c.Definition(o)
	if !ok {
		return nil
	}
	l := linter{definition: o, subject: o.String()}
	for i, version := range slices.Collect(o.Content.Get("spec", "versions").Items()) {
		gvk := schema.GVK{
			Group: o.Content.Get("spec", "group").Str(), Version: version.Get("name").Str(), Kind: o.Content.Get("spec", "names", "kind").Str(),
		}
		t, ok := d.Catalog.Lookup(gvk)
		if !ok {
			continue
		}
		l.kind, l.seen = gvk.APIVersion()+" "+gvk.Kind, map[*schema.Type]bool{}
		l.walk(t, "", []any{"spec", "versions", i, "schema", "openAPIV3Schema"})
	}
	return l.found
}

// linter walks types.
type linter struct {
	definition *manifest.Object // nil for schemas outside of CustomResourceDefinitions
	where      notice.Position
	subject    string
	kind       string
	seen       map[*schema.Type]bool
	found      []Finding
}

// walk checks t, which is at path in objects and at the steps at in the definition. It skips the inside of atomic values, where lists are
// never merged.
func (l *linter) walk(t *schema.Type, path string, at []any) {
	if l.seen[t] || t == schema.Deduced || t.Name() == schema.DeducedName {
		return
	}
	l.seen[t] = true
	if list := t.List(); list != nil {
		l.list(list, path, at)
		if list.Topology() != schema.AtomicList {
			l.walk(list.Element(), path+"[]", append(slices.Clip(at), "items"))
		}
	}
	m := t.Map()
	if m == nil || m.Atomic() {
		return
	}
	for _, f := range m.Fields() {
		if path == "" && f.Name == "metadata" {
			continue // equal in all kinds
		}
		l.walk(f.Type, path+"."+f.Name, append(slices.Clip(at), "properties", f.Name))
	}
	if m.Element() != nil {
		l.walk(m.Element(), path+".*", append(slices.Clip(at), "additionalProperties"))
	}
}

func (l *linter) list(list *schema.List, path string, at []any) {
	item := list.Element().Map()
	hasFields := item != nil && len(item.Fields()) > 0
	switch {
	case list.Topology() == schema.SetList && item != nil:
		l.add(objectSetCode, path, at, "the items of this set are objects, but only scalars can be told apart by value: no value of it can be merged",
			"Make it a map with keys, or atomic."+proposal(item))
	case list.Topology() == schema.AtomicList && hasFields && !l.isMeant(at):
		l.add(atomicListCode, path, at, "the items are objects, but the list is replaced as a whole: managers cannot share it, the last to force it has it",
			"If items have an identity, say so; if they do not, say x-kubernetes-list-type: atomic."+proposal(item))
	}
}

// isMeant reports whether the definition states that a list is atomic.
func (l *linter) isMeant(at []any) bool {
	return l.definition != nil && manifest.ValueAt(l.definition.Content, at).Get("x-kubernetes-list-type").Str() == "atomic"
}

func (l *linter) add(code ownership.Code, path string, at []any, detail, remedy string) {
	x := Finding{
		Code: code, Entry: -1, Detail: detail, Remedy: remedy, Where: l.where, Subject: l.subject, Kind: l.kind, Place: path,
	}
	if l.definition != nil {
		x.Object, x.Where = l.definition, l.definition.Key(existing(l.definition.Content, at)...)
	}
	l.found = append(l.found, x)
}

// existing returns the longest prefix of path that v has.
func existing(v value.Value, path []any) []any {
	for i := range path {
		if manifest.ValueAt(v, path[:i+1]).IsAbsent() {
			return path[:i]
		}
	}
	return path
}

// identifying holds common names of fields that identify items, the best first.
var identifying = []string{"name", "id", "key", "type", "uid", "ip", "host", "address", "port", "path"}

// proposal proposes fields of the items as the key.
func proposal(item *schema.Map) string {
	var names []string
	for _, f := range item.Fields() {
		if f.Type.Scalar() == schema.String || f.Type.Scalar() == schema.Numeric || f.Type.Scalar() == schema.Untyped {
			names = append(names, f.Name)
		}
	}
	best := func(name string) int {
		if i := slices.Index(identifying, strings.ToLower(name)); i >= 0 {
			return i
		}
		for i, word := range identifying {
			if strings.HasSuffix(strings.ToLower(name), word) {
				return len(identifying) + i
			}
		}
		return -1
	}
	names = slices.DeleteFunc(names, func(name string) bool { return best(name) < 0 })
	slices.SortStableFunc(names, func(a, b string) int { return best(a) - best(b) })
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf(" A key could be %s: x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [%s]", names[0], names[0])
	if len(names) > 1 {
		text += "; or " + strings.Join(names[1:min(3, len(names))], ", ")
	}
	return text + ". A key must be required or have a default."
}
