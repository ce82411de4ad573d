package openapi

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/deed-project/deed/value"
)

// checker finds the violations of a schema that is not structural. The junctors are allOf, anyOf, oneOf and not. A structural
// schema defines the form of a value outside of junctors. Junctors may only restrict values further:
//
//   - $ref, $schema, additionalItems, definitions, dependencies, id and patternProperties are forbidden. items is one schema,
//     and types are those of JSON.
//   - Every schema outside of junctors has a type, except an integer or string, and a schema that preserves unknown fields.
//     The type of the root is object. An array has items. The root has no additionalProperties.
//   - A schema in a junctor has no type, default, title, description, nullable, additionalProperties or extension of
//     Kubernetes. An integer or string may be declared by anyOf: [{type: integer}, {type: string}], directly or in the first
//     schema of allOf.
//   - A property or item inside a junctor of the root must also exist outside of it. Kubernetes does not check this for
//     junctors further down.
//   - apiVersion and kind of the root and of embedded resources are strings, and metadata is an object. Only name and
//     generateName of the root's metadata may be restricted. No junctor has metadata.
//   - An embedded resource is an object without additionalProperties. It has properties or preserves unknown fields.
//   - Preserving unknown fields is never false. Patterns are valid.
type checker struct {
	crd, version string
	violations   []error
}

// level is the position of a schema outside of junctors.
type level uint8

const (
	atRoot level = iota
	below
)

func (k *checker) check(root *node, at *path) {
	k.invariants(root, atRoot, at)
	k.complete(root, root, at, at)
}

func (k *checker) report(at *path, format string, args ...any) {
	k.violations = append(k.violations, &SchemaError{k.crd, k.version, at.String(), fmt.Sprintf(format, args...)})
}

// invariants checks a schema outside of junctors, and everything inside it.
func (k *checker) invariants(n *node, lvl level, at *path) {
	if n == nil {
		return
	}
	k.supported(n, at)
	k.form(n, lvl, at)
	k.extensions(n, lvl, at)
	k.resource(n, lvl, at)
	k.junctors(n, at)
	k.invariants(n.items, below, at.in("items"))
	for _, p := range n.properties {
		k.invariants(p.node, below, propertyOf(at, p.name))
	}
	if n.additional != nil {
		k.invariants(n.additional.node, below, at.in("additionalProperties"))
	}
}

func propertyOf(at *path, name string) *path { return at.in("properties").in("[" + name + "]") }

// supported checks the rules that also apply inside of junctors.
func (k *checker) supported(n *node, at *path) {
	for _, keyword := range n.unsupported {
		k.report(at.in(keyword), "is not supported")
	}
	if n.itemsList {
		k.report(at.in("items"), "must be one schema")
	}
	switch n.typ {
	case "", "array", "boolean", "integer", "number", "object", "string":
	default:
		k.report(at.in("type"), "%q is no type", n.typ)
	}
	if n.preserve.Kind() == value.KindBool && !n.preserves() {
		k.report(at.in(preserveUnknown), "must be true or missing")
	}
	if _, err := regexp.Compile(n.pattern); err != nil {
		k.report(at.in("pattern"), "must be a valid regular expression: %v", err)
	}
}

// form checks type, items and additionalProperties.
func (k *checker) form(n *node, lvl level, at *path) {
	switch {
	case n.embedded && n.typ != "object":
		k.report(at.in("type"), "must be object in an embedded resource")
	case n.typ == "" && !n.intOrString && !n.preserves():
		k.report(at.in("type"), "must be given")
	}
	if lvl == atRoot && n.typ != "" && n.typ != "object" {
		k.report(at.in("type"), "must be object at the root")
	}
	if n.typ == "array" && n.items == nil {
		k.report(at.in("items"), "must be given")
	}
	if lvl == atRoot && n.additional != nil {
		k.report(at.in("additionalProperties"), "must not be used at the root")
	}
}

func (k *checker) extensions(n *node, lvl level, at *path) {
	if n.intOrString && n.preserves() {
		k.report(at.in(preserveUnknown), "must not be used with %s", intOrString)
	}
	if n.intOrString && n.embedded {
		k.report(at.in(embeddedResource), "must not be used with %s", intOrString)
	}
	if n.embedded && n.additional != nil {
		k.report(at.in("additionalProperties"), "must not be used in an embedded resource")
	}
	if n.embedded && !n.preserves() && len(n.properties) == 0 {
		k.report(at.in("properties"), "must be given in an embedded resource that does not preserve unknown fields")
	}
}

// resource checks the fields that all resources have.
func (k *checker) resource(n *node, lvl level, at *path) {
	if lvl != atRoot && !n.embedded {
		return
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if p := n.property(name); p != nil && p.typ != "string" {
			k.report(propertyOf(at, name).in("type"), "must be string")
		}
	}
	metadata := n.property("metadata")
	if metadata == nil {
		return
	}
	if metadata.typ != "object" {
		k.report(propertyOf(at, "metadata").in("type"), "must be object")
	}
	if lvl == atRoot && !restrictsNamesOnly(metadata) {
		k.report(propertyOf(at, "metadata"), "must not say anything but what name and generateName are restricted to")
	}
}

// restrictsNamesOnly reports whether n, the schema of the root's metadata, restricts only name and generateName. Its type and
// default are ignored.
func restrictsNamesOnly(n *node) bool {
	for _, p := range n.properties {
		if p.name != "name" && p.name != "generateName" {
			return false
		}
	}
	rest := *n
	rest.typ, rest.deflt, rest.properties = "", value.Value{}, nil
	return rest.isEmpty()
}

// isEmpty reports whether n has no keywords. n.others includes format and pattern.
func (n *node) isEmpty() bool {
	return n.typ == "" && n.title == "" && n.description == "" && !n.nullable && n.deflt.IsAbsent() &&
		n.items == nil && len(n.properties) == 0 && n.additional == nil &&
		len(n.allOf) == 0 && len(n.anyOf) == 0 && len(n.oneOf) == 0 && n.not == nil &&
		n.preserve.IsAbsent() && !n.embedded && !n.intOrString && len(n.listKeys) == 0 &&
		n.listType.IsAbsent() && n.mapType.IsAbsent() && n.rules == 0 && len(n.others) == 0 && len(n.unsupported) == 0 && !n.itemsList
}

// junctors checks all schemas in the junctors of n.
func (k *checker) junctors(n *node, at *path) {
	if !isIntegerOrString(n.anyOf) {
		k.nested(n.anyOf, at.in("anyOf"))
	}
	for i, sub := range n.allOf {
		here := at.in("allOf").in(index(i))
		if i == 0 && isIntegerOrString(sub.anyOf) {
			rest := *sub
			rest.anyOf = nil
			sub = &rest
		}
		k.junctor(sub, here)
	}
	k.nested(n.oneOf, at.in("oneOf"))
	if n.not != nil {
		k.junctor(n.not, at.in("not"))
	}
}

func (k *checker) nested(nodes []*node, at *path) {
	for i, n := range nodes {
		k.junctor(n, at.in(index(i)))
	}
}

// isIntegerOrString reports whether anyOf is exactly [{type: integer}, {type: string}].
func isIntegerOrString(anyOf []*node) bool {
	if len(anyOf) != 2 || anyOf[0].typ != "integer" || anyOf[1].typ != "string" {
		return false
	}
	return !slices.ContainsFunc(anyOf, func(n *node) bool {
		rest := *n
		rest.typ = ""
		return !rest.isEmpty()
	})
}

// junctor checks one schema in a junctor.
func (k *checker) junctor(n *node, at *path) {
	k.supported(n, at)
	for _, forbidden := range []struct {
		keyword string
		there   bool
	}{
		{"type", n.typ != ""},
		{"additionalProperties", n.additional != nil && n.additional.allow},
		{"default", !n.deflt.IsAbsent()},
		{"title", n.title != ""},
		{"description", n.description != ""},
		{"nullable", n.nullable},
		{preserveUnknown, n.preserves()},
		{embeddedResource, n.embedded},
		{intOrString, n.intOrString},
		{listMapKeys, len(n.listKeys) > 0},
		{listType, !n.listType.IsAbsent()},
		{mapType, !n.mapType.IsAbsent()},
		{"x-kubernetes-validations", n.rules > 0},
		{"properties[metadata]", n.property("metadata") != nil},
	} {
		if forbidden.there {
			k.report(at.in(forbidden.keyword), "must not be given inside allOf, anyOf, oneOf or not")
		}
	}
	k.nestedJunctors(n, at)
	if n.items != nil {
		k.junctor(n.items, at.in("items"))
	}
	for _, p := range n.properties {
		k.junctor(p.node, propertyOf(at, p.name))
	}
}

// nestedJunctors checks the junctors of a schema in a junctor. Such a schema cannot declare an integer or string.
func (k *checker) nestedJunctors(n *node, at *path) {
	k.nested(n.allOf, at.in("allOf"))
	k.nested(n.anyOf, at.in("anyOf"))
	k.nested(n.oneOf, at.in("oneOf"))
	if n.not != nil {
		k.junctor(n.not, at.in("not"))
	}
}

// complete checks that the schemas in the junctors of in have counterparts in the schema called of. from is the path of in.
// at is the path of the counterpart.
func (k *checker) complete(in, of *node, at, from *path) {
	if in.not != nil {
		k.counterpart(in.not, of, at, from.in("not"))
	}
	for _, j := range []struct {
		name  string
		nodes []*node
	}{{"allOf", in.allOf}, {"anyOf", in.anyOf}, {"oneOf", in.oneOf}} {
		for i, n := range j.nodes {
			k.counterpart(n, of, at, from.in(j.name).in(index(i)))
		}
	}
}

// counterpart checks that of has the items and properties of n. of may be nil.
func (k *checker) counterpart(n, of *node, at, from *path) {
	if of == nil {
		k.report(at, "must be given, because %v is", from)
		return
	}
	k.complete(n, of, at, from)
	if n.items != nil {
		k.counterpart(n.items, of.items, at.in("items"), from.in("items"))
	}
	for _, p := range n.properties {
		k.counterpart(p.node, of.property(p.name), propertyOf(at, p.name), propertyOf(from, p.name))
	}
}
