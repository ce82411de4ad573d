package openapi

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/deed-project/deed/value"
)

// checker finds where a schema is not structural. A structural schema says everything about the form of a value outside of
// allOf, anyOf, oneOf and not, the junctors, which may only restrict values further:
//
//   - The keywords $ref, $schema, additionalItems, definitions, dependencies, id and patternProperties are not there, items is
//     one schema, and types are those of JSON.
//   - Every schema outside of junctors has a type, except that of an integer or string and one that preserves unknown fields.
//     That of the root is object. An array has items. The root has no additionalProperties.
//   - No schema in a junctor has a type, default, title, description, nullable, additionalProperties or extension of Kubernetes;
//     an integer or string may be told by anyOf: [{type: integer}, {type: string}], there or first in allOf.
//   - What is a property or item inside a junctor is one outside of it too.
//   - apiVersion, kind and metadata of the root and of embedded resources are strings and an object. Only name and generateName
//     of the root's metadata may be restricted. No junctor speaks of metadata.
//   - An embedded resource is an object without additionalProperties that has properties or preserves unknown fields.
//   - Preserving unknown fields is never false, patterns are valid.
type checker struct {
	crd, version string
	violations   []error
}

// level is where a schema outside of junctors stands.
type level uint8

const (
	atRoot level = iota
	below
)

func (k *checker) check(root *node, path string) {
	k.invariants(root, atRoot, path)
	k.complete(root, root, path, path)
}

func (k *checker) report(path, format string, args ...any) {
	k.violations = append(k.violations, &SchemaError{k.crd, k.version, path, fmt.Sprintf(format, args...)})
}

// invariants checks a schema outside of junctors and all that is inside of it.
func (k *checker) invariants(n *node, lvl level, path string) {
	if n == nil {
		return
	}
	k.supported(n, path)
	k.form(n, lvl, path)
	k.extensions(n, lvl, path)
	k.resource(n, lvl, path)
	k.junctors(n, path)
	k.invariants(n.items, below, path+".items")
	for _, p := range n.properties {
		k.invariants(p.node, below, propertyPath(path, p.name))
	}
	if n.additional != nil {
		k.invariants(n.additional.node, below, path+".additionalProperties")
	}
}

func propertyPath(path, name string) string { return path + ".properties[" + name + "]" }

// supported checks what goes for schemas inside of junctors too.
func (k *checker) supported(n *node, path string) {
	for _, keyword := range n.unsupported {
		k.report(path+"."+keyword, "is not supported")
	}
	if n.itemsList {
		k.report(path+".items", "must be one schema")
	}
	switch n.typ {
	case "", "array", "boolean", "integer", "number", "object", "string":
	default:
		k.report(path+".type", "%q is no type", n.typ)
	}
	if n.preserve.Kind() == value.KindBool && !n.preserves() {
		k.report(path+"."+preserveUnknown, "must be true or missing")
	}
	if _, err := regexp.Compile(n.pattern); err != nil {
		k.report(path+".pattern", "must be a valid regular expression: %v", err)
	}
}

// form checks type, items and additionalProperties.
func (k *checker) form(n *node, lvl level, path string) {
	switch {
	case n.embedded && n.typ != "object":
		k.report(path+".type", "must be object in an embedded resource")
	case n.typ == "" && !n.intOrString && !n.preserves():
		k.report(path+".type", "must be given")
	}
	if lvl == atRoot && n.typ != "" && n.typ != "object" {
		k.report(path+".type", "must be object at the root")
	}
	if n.typ == "array" && n.items == nil {
		k.report(path+".items", "must be given")
	}
	if lvl == atRoot && n.additional != nil {
		k.report(path+".additionalProperties", "must not be used at the root")
	}
}

func (k *checker) extensions(n *node, lvl level, path string) {
	if n.intOrString && n.preserves() {
		k.report(path+"."+preserveUnknown, "must not be used with %s", intOrString)
	}
	if n.intOrString && n.embedded {
		k.report(path+"."+embeddedResource, "must not be used with %s", intOrString)
	}
	if n.embedded && n.additional != nil {
		k.report(path+".additionalProperties", "must not be used in an embedded resource")
	}
	if n.embedded && !n.preserves() && len(n.properties) == 0 {
		k.report(path+".properties", "must be given in an embedded resource that does not preserve unknown fields")
	}
}

// resource checks the fields that all resources have.
func (k *checker) resource(n *node, lvl level, path string) {
	if lvl != atRoot && !n.embedded {
		return
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if p := n.property(name); p != nil && p.typ != "string" {
			k.report(propertyPath(path, name)+".type", "must be string")
		}
	}
	metadata := n.property("metadata")
	if metadata == nil {
		return
	}
	if metadata.typ != "object" {
		k.report(propertyPath(path, "metadata")+".type", "must be object")
	}
	if lvl == atRoot && !restrictsNamesOnly(metadata) {
		k.report(propertyPath(path, "metadata"), "must not say anything but what name and generateName are restricted to")
	}
}

// restrictsNamesOnly reports whether n, the schema of the root's metadata, says nothing but that it is an object, with which
// default, and what the name and the generated name are.
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

// isEmpty reports whether n says nothing at all.
func (n *node) isEmpty() bool {
	return n.typ == "" && n.title == "" && n.description == "" && !n.nullable && n.deflt.IsAbsent() &&
		n.items == nil && len(n.properties) == 0 && n.additional == nil &&
		len(n.allOf) == 0 && len(n.anyOf) == 0 && len(n.oneOf) == 0 && n.not == nil &&
		n.preserve.IsAbsent() && !n.embedded && !n.intOrString && len(n.listKeys) == 0 &&
		n.listType.IsAbsent() && n.mapType.IsAbsent() && n.rules == 0 && len(n.others) == 0 && len(n.unsupported) == 0 && !n.itemsList
}

// junctors checks all schemas in the junctors of n.
func (k *checker) junctors(n *node, path string) {
	if !isIntegerOrString(n.anyOf) {
		k.nested(n.anyOf, path+".anyOf")
	}
	for i, sub := range n.allOf {
		here := fmt.Sprintf("%s.allOf[%d]", path, i)
		if i == 0 && isIntegerOrString(sub.anyOf) {
			rest := *sub
			rest.anyOf = nil
			sub = &rest
		}
		k.junctor(sub, here)
	}
	k.nested(n.oneOf, path+".oneOf")
	if n.not != nil {
		k.junctor(n.not, path+".not")
	}
}

func (k *checker) nested(nodes []*node, path string) {
	for i, n := range nodes {
		k.junctor(n, fmt.Sprintf("%s[%d]", path, i))
	}
}

// isIntegerOrString reports whether anyOf admits an integer and a string, and says nothing else.
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
func (k *checker) junctor(n *node, path string) {
	k.supported(n, path)
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
			k.report(path+"."+forbidden.keyword, "must not be given inside allOf, anyOf, oneOf or not")
		}
	}
	k.nestedJunctors(n, path)
	if n.items != nil {
		k.junctor(n.items, path+".items")
	}
	for _, p := range n.properties {
		k.junctor(p.node, propertyPath(path, p.name))
	}
}

// nestedJunctors checks the junctors of a schema that is in one, where an integer or string cannot be told.
func (k *checker) nestedJunctors(n *node, path string) {
	k.nested(n.allOf, path+".allOf")
	k.nested(n.anyOf, path+".anyOf")
	k.nested(n.oneOf, path+".oneOf")
	if n.not != nil {
		k.junctor(n.not, path+".not")
	}
}

// complete checks that what the junctors of in speak of is there outside of them, in the schema of, whose path is at.
func (k *checker) complete(in, of *node, at, path string) {
	if in.not != nil {
		k.counterpart(in.not, of, at, path+".not")
	}
	for _, j := range []struct {
		name  string
		nodes []*node
	}{{"allOf", in.allOf}, {"anyOf", in.anyOf}, {"oneOf", in.oneOf}} {
		for i, n := range j.nodes {
			k.counterpart(n, of, at, fmt.Sprintf("%s.%s[%d]", path, j.name, i))
		}
	}
}

// counterpart checks that of, nil when there is none, has what n speaks of.
func (k *checker) counterpart(n, of *node, at, path string) {
	if of == nil {
		k.report(at, "must be given, because %s is", path)
		return
	}
	k.complete(n, of, at, path)
	if n.items != nil {
		k.counterpart(n.items, of.items, at+".items", path+".items")
	}
	for _, p := range n.properties {
		k.counterpart(p.node, of.property(p.name), propertyPath(at, p.name), propertyPath(path, p.name))
	}
}
