package types

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/schema/structural"
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
	d := ReadDefinition(o)
	if d.Broken != nil {
		c.definitionProblem(o, d.Broken)
		return kindTypes{unusable: o}
	}
	c.flaws(o, d.Flaws)
	kind, _ := catalogSource(d.Catalog, fmt.Sprintf("defined at %v", o.At()))(schema.GVK{Group: id.group, Kind: id.kind})
	kind.status = custom.WithStatus(o.Content)
	kind.Replicas = replicasIn(o.Content)
	kind.ClusterScoped = o.Content.Get("spec", "scope").Str() == "Cluster"
	kind.schemas = d.structures
	kind.Renamed = o.Content.Get("spec", "conversion", "strategy").Str() != "Webhook"
	kind.broken = func(version string) error {
		if err := d.Versions[version]; err != nil {
			return &brokenSchemaError{definition: o, version: version, err: err}
		}
		return nil
	}
	return kind
}

// Definition is what a CustomResourceDefinition defines.
type Definition struct {
	*openapi.Definitions
	Catalog *schema.Catalog
	// Broken is why nothing of the definition can be used; nil if that is not so. The rest is then nil.
	Broken error
	// Versions has the versions whose schemas cannot be used, and why. In Catalog they admit everything.
	Versions map[string]error
	// Flaws are rules of merging that the types break. They can be used in spite of them.
	Flaws error

	structures map[string]*structural.Schema
}

// ReadDefinition reads the CustomResourceDefinition o. Its errors join one for each defect; a server accepts
// no definition with one of them. Their places are those of [PlaceInDefinition].
func ReadDefinition(o *manifest.Object) Definition {
	d := Definition{Versions: map[string]error{}}
	if d.Definitions, d.Broken = openapi.CRD(o.Content); d.Broken != nil {
		return d
	}
	if d.structures, d.Broken = structures(o.Content); d.Broken != nil {
		return d
	}
	d.Catalog, d.Flaws = d.Definitions.Catalog()
	for _, warning := range d.Warnings {
		var e *openapi.SchemaError
		errors.As(warning, &e)
		d.Versions[e.Version] = errors.Join(d.Versions[e.Version], warning)
	}
	for i, v := range slices.Collect(o.Content.Get("spec", "versions").Items()) {
		if s := v.Get("schema", "openAPIV3Schema"); s.IsAbsent() || s.IsNull() {
			name := v.Get("name").Str()
			d.Versions[name] = &openapi.SchemaError{
				CRD: o.Id.Name, Version: name, Path: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i), Reason: "schemas are required",
			}
		}
	}
	return d
}

// Errors returns all that is wrong with the definition.
func (d Definition) Errors() []error {
	var out []error
	add := func(err error) { out = append(out, err) }
	notice.EachError(d.Broken, add)
	for _, version := range slices.Sorted(maps.Keys(d.Versions)) {
		notice.EachError(d.Versions[version], add)
	}
	notice.EachError(d.Flaws, add)
	return out
}

// Definition reads the CustomResourceDefinition o, and reports all that is wrong with it. It returns false if
// nothing of it can be used.
func (c *Library) Definition(o *manifest.Object) (Definition, bool) {
	d := ReadDefinition(o)
	c.definitionProblem(o, d.Broken)
	for _, version := range slices.Sorted(maps.Keys(d.Versions)) {
		c.definitionProblem(o, d.Versions[version])
	}
	c.flaws(o, d.Flaws)
	return d, d.Broken == nil
}

// definitionProblem reports errors about the definition o.
func (c *Library) definitionProblem(o *manifest.Object, err error) {
	notice.EachError(err, func(err error) {
		c.Report(notice.Notice{Class: notice.BadSchema, Where: PlaceInDefinition(o, err), Text: secret.Open.Error(err)})
	})
}

// ReasonInDefinition returns what err, which is about a CustomResourceDefinition, says without the name of that.
func ReasonInDefinition(err error) string {
	var e *openapi.SchemaError
	switch {
	case !errors.As(err, &e):
		return secret.Open.Error(err)
	case e.Path == "":
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// flaws warns of rules of merging that the types of the definition o break.
func (c *Library) flaws(o *manifest.Object, err error) {
	notice.EachError(err, func(err error) {
		c.Report(notice.Notice{Class: notice.BadSchema, Warning: true, Where: o.At(), Text: secret.Open.Error(err)})
	})
}

// brokenSchemaError is a version of a kind whose definition has a schema that cannot be used.
type brokenSchemaError struct {
	definition *manifest.Object
	version    string
	err        error // joins all that is wrong
}

// Error names the definition and the first thing that is wrong with the schema.
func (e *brokenSchemaError) Error() string {
	var all []error
	notice.EachError(e.err, func(err error) { all = append(all, err) })
	text := fmt.Sprintf("the schema of version %s in its definition cannot be used: %v: %s",
		e.version, PlaceInDefinition(e.definition, all[0]), ReasonInDefinition(all[0]))
	if len(all) > 1 {
		text += fmt.Sprintf(", and %d more", len(all)-1)
	}
	return text + "; --schemaless does without it"
}

// PlaceInDefinition returns the position in o, a CustomResourceDefinition, that err is about.
func PlaceInDefinition(o *manifest.Object, err error) notice.Position {
	steps := StepsInDefinition(o, err)
	if len(steps) == 0 {
		return o.At()
	}
	return o.Key(steps...)
}

// StepsInDefinition returns the way to what err is about in o, a CustomResourceDefinition, as far as it leads.
func StepsInDefinition(o *manifest.Object, err error) []any {
	var e *openapi.SchemaError
	if !errors.As(err, &e) {
		return nil
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
	return path
}
