package types

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// DefinedBy returns the CustomResourceDefinitions in the named files and directories, whatever else
// is in there. It reports what cannot be read, and names that lead to none, and whether all is
// well.
func (c *Library) DefinedBy(names []string) (definitions []*manifest.Object, ok bool) {
	before := c.Problems
	for _, name := range names {
		unread := c.Problems
		found := c.ObjectsOnly(IsDefinition, c.Read([]string{name}, true))
		if len(found) == 0 && c.Problems == unread {
			c.Problem(notice.InFile(name), "no CustomResourceDefinition of apiextensions.k8s.io/v1 in here")
		}
		definitions = append(definitions, found...)
	}
	return definitions, c.Problems == before
}

// IsDefinition reports whether v is a CustomResourceDefinition of the version that is read: see [custom.IsDefinition].
func IsDefinition(v value.Value) bool {
	return custom.IsDefinition(v) && v.Get("apiVersion").Str() == "apiextensions.k8s.io/v1"
}

// definitions returns the source of the types that the CustomResourceDefinitions among objects
// define. They are converted when they are needed first. Of two definitions of one kind, the first
// counts.
func (c *Library) definitions(objects []*manifest.Object) source {
	defined := map[groupKind]*manifest.Object{}
	for _, o := range objects {
		if !IsDefinition(o.Content) {
			continue
		}
		id := groupKind{o.Content.Get("spec", "group").Str(), o.Content.Get("spec", "names", "kind").Str()}
		if defined[id] == nil {
			defined[id] = o
		}
	}
	converted := map[groupKind]kindTypes{}
	return func(gvk schema.GVK) (kindTypes, bool) {
		id := groupKind{gvk.Group, gvk.Kind}
		if defined[id] == nil {
			return kindTypes{}, false
		}
		found, ok := converted[id]
		if !ok {
			found = c.definition(defined[id], id)
			converted[id] = found
		}
		return found, true
	}
}

// definition returns the types that the CustomResourceDefinition o defines for the kind id. It
// reports what is wrong with it.
func (c *Library) definition(o *manifest.Object, id groupKind) kindTypes {
	definitions, err := openapi.CRD(o.Content)
	if err != nil {
		notice.EachError(err, func(err error) { c.Problem(PlaceInDefinition(o, err), "%v", err) })
		return kindTypes{unusable: o}
	}
	catalog, err := definitions.Catalog()
	notice.EachError(err, func(err error) { c.Warn(o.At(), "%v", err) })
	kind, _ := catalogSource(catalog, fmt.Sprintf("defined at %v", o.At()))(schema.GVK{Group: id.group, Kind: id.kind})
	kind.status = custom.WithStatus(o.Content)
	kind.Replicas = replicasIn(o.Content)
	kind.ClusterScoped = o.Content.Get("spec", "scope").Str() == "Cluster"
	if kind.schemas, err = structures(o.Content); err != nil {
		c.Problem(PlaceInDefinition(o, err), "%v", err)
		return kindTypes{unusable: o}
	}
	kind.Renamed = o.Content.Get("spec", "conversion", "strategy").Str() != "Webhook"
	kind.warn = func(version string) {
		for _, warning := range definitions.Warnings {
			if e := (*openapi.SchemaError)(nil); !errors.As(warning, &e) || e.Version == version {
				c.Warn(PlaceInDefinition(o, warning), "%v; objects of this version count as having no schema", warning)
			}
		}
	}
	return kind
}

// PlaceInDefinition returns the position in o, a CustomResourceDefinition, that err is about.
func PlaceInDefinition(o *manifest.Object, err error) notice.Position {
	var e *openapi.SchemaError
	if !errors.As(err, &e) {
		return o.At()
	}
	var path []any
	for _, step := range strings.FieldsFunc(e.Path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if i, err := strconv.Atoi(step); err == nil && manifest.ValueAt(o.Content, path).Kind() == value.KindList {
			path = append(path, i)
			continue
		}
		if manifest.ValueAt(o.Content, path).Get(step).IsAbsent() {
			break
		}
		path = append(path, step)
	}
	return o.Key(path...)
}
