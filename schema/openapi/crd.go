package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// SchemaError is a defect that makes a CustomResourceDefinition unusable, or the schema of a version not structural.
type SchemaError struct {
	CRD     string // the name of the definition
	Version string // the name of the version; empty if the defect is not about a version
	Path    string // in the definition, such as spec.versions[0].schema.openAPIV3Schema.properties[a].type
	Reason  string
}

// Error returns the reason with its place.
func (e *SchemaError) Error() string {
	if e == nil {
		return "<nil>"
	}
	text := fmt.Sprintf("CustomResourceDefinition %q: ", e.CRD)
	if e.Version != "" {
		text += "version " + e.Version + ": "
	}
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + e.Reason
}

// CRD converts a CustomResourceDefinition of apiextensions.k8s.io/v1 to a schema. It has one type for each version, served or
// not, and the types of object metadata. Definitions.Kinds has the kind of each version. It does not have the list kinds, as
// in Kubernetes.
//
// The rules for each version:
//
//   - If a version has no structural schema, its type deduces everything, including metadata. The warnings list the
//     violations of a schema that is not structural.
//   - Otherwise [V3] defines the type of the schema. spec.preserveUnknownFields applies to all types, including those of
//     object metadata.
//   - The root and every embedded resource have the fields apiVersion, kind and metadata. They replace those of the schema.
//   - Only the keywords of custom resource schemas count: patch strategies do not.
//
// CRD ignores the status of the definition. It reports all errors, joined, each a [*SchemaError].
func CRD(crd value.Value) (*Definitions, error) {
	c := converterCRD{name: crd.Get("metadata", "name").Str()}
	c.read(crd)
	if err := errors.Join(c.errors...); err != nil {
		return nil, err
	}
	out := newDefinitions(c.types, c.kinds)
	out.Warnings = c.warnings
	return out, nil
}

type converterCRD struct {
	name     string // of the definition
	group    string
	kind     string
	preserve bool

	types    []schema.TypeDef
	kinds    map[schema.GVK]string
	errors   []error
	warnings []error
}

func (c *converterCRD) fail(version string, at *path, format string, args ...any) {
	c.errors = append(c.errors, &SchemaError{c.name, version, at.String(), fmt.Sprintf(format, args...)})
}

func (c *converterCRD) read(crd value.Value) {
	var root *path
	if kind := crd.Get("kind"); kind.Str() != "CustomResourceDefinition" {
		c.fail("", root.in("kind"), "expected CustomResourceDefinition, got %v", kind)
		return
	}
	if version := crd.Get("apiVersion"); version.Str() != "apiextensions.k8s.io/v1" {
		c.fail("", root.in("apiVersion"), "expected apiextensions.k8s.io/v1, the only version that Kubernetes serves since 1.22, got %v",
			version)
		return
	}
	spec, at := crd.Get("spec"), root.in("spec")
	c.group = c.required(spec.Get("group"), at.in("group"))
	c.kind = c.required(spec.Get("names", "kind"), at.in("names").in("kind"))
	c.preserve = c.flag(spec.Get("preserveUnknownFields"), at.in("preserveUnknownFields"))
	c.types = objectMeta(c.preserve)
	c.kinds = map[schema.GVK]string{}
	versions := spec.Get("versions")
	if versions.Kind() != value.KindList || versions.Len() == 0 {
		c.fail("", at.in("versions"), "expected a list of versions, got %v", versions)
	}
	for i := range versions.Len() {
		c.version(versions.Item(i), at.in("versions").in(index(i)))
	}
}

func (c *converterCRD) required(v value.Value, at *path) string {
	if v.Str() == "" {
		c.fail("", at, "expected a name, got %v", v)
	}
	return v.Str()
}

func (c *converterCRD) flag(v value.Value, at *path) bool {
	if k := v.Kind(); k != value.KindBool && k != value.KindAbsent && k != value.KindNull {
		c.fail("", at, "expected true or false, got %v", v)
	}
	return v.Bool()
}

// version adds the type of a version.
func (c *converterCRD) version(v value.Value, at *path) {
	version := c.required(v.Get("name"), at.in("name"))
	gvk := schema.GVK{Group: c.group, Version: version, Kind: c.kind}
	name := typeName(gvk)
	if slices.ContainsFunc(c.types, func(t schema.TypeDef) bool { return t.Name == name }) {
		c.fail(version, at.in("name"), "the type %q is defined already", name)
		return
	}
	at = at.in("schema").in("openAPIV3Schema")
	root := c.structural(v.Get("schema", "openAPIV3Schema"), version, at)
	var found problems
	c.types = append(c.types, convertV3(&found, name, native(root), c.preserve))
	c.kinds[gvk] = name
	for _, err := range found {
		p := err.(*Problem)
		here := at
		if p.Path != "" {
			here = at.in(p.Path)
		}
		c.fail(version, here, "%s", p.Reason)
	}
}

// structural returns the schema of a version. It returns nil if there is none, or if it is not structural.
func (c *converterCRD) structural(v value.Value, version string, at *path) *node {
	if v.IsAbsent() || v.IsNull() {
		return nil
	}
	d := decoder{crd: c.name, version: version}
	root := d.node(v, at)
	c.errors = append(c.errors, d.errors...)
	if len(d.errors) > 0 {
		return nil
	}
	k := checker{crd: c.name, version: version}
	k.check(root, at)
	c.warnings = append(c.warnings, k.violations...)
	if len(k.violations) > 0 {
		return nil
	}
	return root
}

// typeName returns the name that Kubernetes gives the type of a custom resource: the reversed group, the version and the
// kind.
func typeName(gvk schema.GVK) string {
	parts := strings.Split(gvk.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, gvk.Version, gvk.Kind), ".")
}
