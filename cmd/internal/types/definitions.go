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

// DefinedBy returns the CustomResourceDefinitions in the named files and directories, and ignores other objects. It reports unreadable
// files and names without a definition. ok is false if it reported anything.
func (c *Library) DefinedBy(names []string) (definitions []*manifest.Object, ok bool) {
	before := c.Problems
	for _, name := range names {
		unread := c.Problems
		found := c.ObjectsOnly(IsDefinition, c.ReadKept([]string{name}))
		if len(found) == 0 && c.Problems == unread {
			c.Problem(notice.InFile(name), "no CustomResourceDefinition of apiextensions.k8s.io/v1 in here")
		}
		definitions = append(definitions, found...)
	}
	return definitions, c.Problems == before
}

// IsDefinition reports whether v is a CustomResourceDefinition of the supported version: see [custom.IsDefinition].
func IsDefinition(v value.Value) bool {
	return custom.IsDefinition(v) && v.Get("apiVersion").Str() == "apiextensions.k8s.io/v1"
}

// InVersion returns the field of an error about object. Where all versions of a definition are the same, kube-apiserver names fields in the form in
// which definitions had one version.
func InVersion(object value.Value, field string) string {
	if !IsDefinition(object) {
		return field
	}
	for _, member := range [][2]string{
		{"spec.validation", "spec.versions[0].schema"}, {"spec.subresources", "spec.versions[0].subresources"},
		{"spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"}, {"spec.selectableFields", "spec.versions[0].selectableFields"},
	} {
		if rest, ok := strings.CutPrefix(field, member[0]); ok {
			return member[1] + rest
		}
	}
	return field
}

// definitions returns the source of the types that the CustomResourceDefinitions among objects define. Types are converted on first use.
// The first of two definitions of one kind counts.
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

// definition returns the types that the CustomResourceDefinition o defines for the kind id. It reports defects of o.
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
	kind.storage = custom.Storage{Group: id.group, Version: storedVersion(o.Content), Schemas: d.structures}
	kind.definition = o.Content
	kind.Renamed = o.Content.Get("spec", "conversion", "strategy").Str() != "Webhook"
	kind.broken = func(version string) error {
		if err := d.Versions[version]; err != nil {
			return &brokenSchemaError{definition: o, version: version, err: err}
		}
		return nil
	}
	return kind
}

// Definition is the content of a CustomResourceDefinition.
type Definition struct {
	*openapi.Definitions
	Catalog *schema.Catalog
	// Broken is the reason why the whole definition is unusable; nil if it is usable. If Broken is set, the other fields are nil.
	Broken error
	// Versions holds the errors of versions with unusable schemas. Such versions admit every object in Catalog.
	Versions map[string]error
	// Flaws holds violations of the rules of merging. The types are usable nevertheless.
	Flaws error

	structures map[string]*structural.Schema
}

// ReadDefinition reads the CustomResourceDefinition o. Its errors join one error for each defect; a server accepts no definition with such
// a defect. [PlaceInDefinition] returns their positions.
func ReadDefinition(o *manifest.Object) Definition {
	d := Definition{Versions: map[string]error{}}
	if d.Definitions, d.Broken = openapi.CRD(o.Content); d.Broken != nil {
		return d
	}
	if d.structures, d.Broken = structural.Versions(o.Content); d.Broken != nil {
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

// Errors returns all defects of the definition.
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

// Definition reads the CustomResourceDefinition o, and reports all its defects. It returns false if the whole definition is unusable.
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

// ReasonInDefinition returns the text of err, an error of a CustomResourceDefinition, without the name of the definition.
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

// flaws warns about violations of the rules of merging in the definition o.
func (c *Library) flaws(o *manifest.Object, err error) {
	notice.EachError(err, func(err error) {
		c.Report(notice.Notice{Class: notice.BadSchema, Warning: true, Where: o.At(), Text: secret.Open.Error(err)})
	})
}

// brokenSchemaError reports a version of a kind whose definition has an unusable schema.
type brokenSchemaError struct {
	definition *manifest.Object
	version    string
	err        error // joins all defects
}

// Error names the definition and the first defect of the schema.
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

// PlaceInDefinition returns the position of err in the CustomResourceDefinition o.
func PlaceInDefinition(o *manifest.Object, err error) notice.Position {
	steps := StepsInDefinition(o, err)
	if len(steps) == 0 {
		return o.At()
	}
	return o.Key(steps...)
}

// StepsInDefinition returns the steps to the place of err in the CustomResourceDefinition o, as far as o has them.
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
