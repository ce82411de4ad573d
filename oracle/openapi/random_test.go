package openapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// object is JSON under construction.
type object = map[string]any

// generator makes random schemas that are mostly valid. mischief sets the rate of defects.
type generator struct {
	*rand.Rand
	refs     string   // prefix of references; empty for none
	names    []string // of definitions
	mischief int      // one choice in so many is a defect; 0 for none
}

func (g generator) oneOf(words ...any) any { return words[g.IntN(len(words))] }

func (g generator) chance(oneIn int) bool { return g.IntN(oneIn) == 0 }

func (g generator) bad() bool { return g.mischief > 0 && g.chance(g.mischief) }

var properties = []string{"a", "b", "k", "metadata", "kind", "apiVersion", "spec", "x.y/z"}

// schema returns a random schema that nests up to depth levels.
func (g generator) schema(depth int) object {
	if g.refs != "" && g.chance(5) {
		return g.reference()
	}
	s := object{}
	switch kind := g.IntN(10); {
	case depth == 0 || kind < 4:
		g.scalar(s)
	case kind < 7:
		g.object(s, depth)
	case kind < 9:
		g.list(s, depth)
	default:
		g.anything(s, depth)
	}
	g.extras(s, depth)
	return s
}

func (g generator) scalar(s object) {
	s["type"] = g.oneOf("string", "integer", "number", "boolean", "string")
	if g.chance(3) {
		s["format"] = g.oneOf("", "byte", "date-time", "int32", "int-or-string", "email")
	}
	if g.chance(4) {
		s["default"] = g.oneOf("", "d", 3, 0, 2.5, true, false, nil, []any{1}, object{"q": object{"r": 1}})
	}
}

func (g generator) object(s object, depth int) {
	s["type"] = "object"
	if !g.chance(4) {
		fields := object{}
		for range g.IntN(4) {
			fields[properties[g.IntN(len(properties))]] = g.schema(depth - 1)
		}
		s["properties"] = fields
	}
	switch g.IntN(8) {
	case 0, 1:
		s["additionalProperties"] = g.schema(depth - 1)
	case 2:
		s["additionalProperties"] = g.chance(2)
	}
	if g.chance(3) {
		s["x-kubernetes-map-type"] = g.oneOf("atomic", "granular")
	}
	if g.chance(6) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if g.chance(6) {
		s["x-kubernetes-embedded-resource"] = true
	}
	if g.bad() {
		s["x-kubernetes-map-type"] = g.oneOf("map", "", 1, nil, []any{"atomic"})
	}
}

func (g generator) list(s object, depth int) {
	s["type"] = "array"
	s["items"] = g.schema(depth - 1)
	switch g.IntN(6) {
	case 0:
		s["x-kubernetes-list-type"] = g.oneOf("atomic", "set")
	case 1:
		s["x-kubernetes-list-type"] = "map"
		s["x-kubernetes-list-map-keys"] = g.oneOf([]any{"k"}, []any{"k", "a"})
	case 2:
		s["x-kubernetes-patch-strategy"] = g.oneOf("merge", "merge,retainKeys", "retainKeys")
		if g.chance(2) {
			s["x-kubernetes-patch-merge-key"] = "k"
		}
	}
	if g.bad() {
		g.oneOf(
			func() { delete(s, "items") },
			func() { s["items"] = []any{g.schema(0)} },
			func() { s["items"] = []any{g.schema(0), g.schema(0)} },
			func() { s["x-kubernetes-list-type"] = g.oneOf("list", "", 2, object{}) },
			func() { s["x-kubernetes-list-type"] = "map"; delete(s, "x-kubernetes-list-map-keys") },
			func() { s["x-kubernetes-list-map-keys"] = g.oneOf("k", []any{}, []any{1, "k"}, object{"k": 1}) },
			func() { s["x-kubernetes-patch-strategy"] = g.oneOf("replace", 1, object{}) },
			func() {
				s["x-kubernetes-patch-strategy"], s["x-kubernetes-patch-merge-key"] = "merge", g.oneOf(1, []any{"k"})
			},
		).(func())()
	}
}

func (g generator) anything(s object, depth int) {
	s[g.oneOf("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields").(string)] = true
	if g.chance(3) {
		s["properties"] = object{"a": g.schema(depth - 1)}
	}
	if g.chance(3) {
		s["items"] = g.schema(depth - 1)
	}
}

// extras adds keywords that are allowed in every schema.
func (g generator) extras(s object, depth int) {
	if g.chance(6) {
		s["nullable"] = true
	}
	if g.chance(6) {
		s["description"] = "text"
	}
	if g.chance(8) && depth > 0 {
		s[g.oneOf("allOf", "anyOf", "oneOf").(string)] = g.junctors(depth - 1)
	}
	if g.chance(12) && depth > 0 {
		s["not"] = g.junctor(depth - 1)
	}
	if g.bad() {
		s["type"] = g.oneOf("", "null", "file", "object", "array", "string")
	}
	if g.bad() {
		delete(s, "type")
	}
	if g.bad() {
		s["x-kubernetes-preserve-unknown-fields"] = false
	}
}

func (g generator) junctors(depth int) []any {
	if g.chance(3) {
		intOrString := []any{object{"type": "integer"}, object{"type": "string"}}
		return []any{intOrString, []any{object{"anyOf": intOrString}}}[g.IntN(2)].([]any)
	}
	out := make([]any, g.IntN(3))
	for i := range out {
		out[i] = g.junctor(depth)
	}
	return out
}

// junctor returns a schema that restricts values. With mischief it may have other keywords.
func (g generator) junctor(depth int) object {
	s := object{g.oneOf("minimum", "maxLength", "minProperties").(string): 1}
	if g.refs != "" && g.chance(2) {
		return g.reference()
	}
	if depth > 0 && g.chance(2) {
		s["properties"] = object{properties[g.IntN(len(properties))]: g.junctor(depth - 1)}
	}
	if depth > 0 && g.chance(4) {
		s["items"] = g.junctor(depth - 1)
	}
	if g.chance(8) {
		s["pattern"] = g.oneOf("^a", "a(")
	}
	if g.bad() {
		s[g.oneOf("type", "description", "title", "x-kubernetes-list-type", "x-kubernetes-map-type").(string)] = "string"
	}
	if g.bad() {
		s[g.oneOf("nullable", "x-kubernetes-int-or-string", "additionalProperties", "default").(string)] = true
	}
	return s
}

func (g generator) reference() object {
	s := object{"$ref": g.refs + g.names[g.IntN(len(g.names))]}
	if g.bad() {
		s["$ref"] = g.oneOf("#/definitions/gone", "#/components/schemas/", "a%20b", "http://x/y", "#")
	}
	if g.chance(3) {
		s = object{"allOf": []any{s}}
	}
	if g.chance(4) {
		s["nullable"] = true
	}
	if g.chance(4) {
		s["x-kubernetes-map-type"] = g.oneOf("atomic", "granular")
	}
	if g.chance(4) {
		s["default"] = g.oneOf(object{}, "x", 1)
	}
	if g.bad() {
		s["x-kubernetes-map-type"] = "other"
	}
	return s
}

// kinds returns the extension that lists the kinds of a definition, which may have an invalid entry.
func (g generator) kinds(i int) any {
	kind := object{"group": "g.io", "version": "v1", "kind": fmt.Sprint("Kind", i)}
	if g.bad() {
		return g.oneOf("Kind", object{}, []any{"x", object{"group": 1, "version": "v1", "kind": "K"}}, []any{kind, object{"group": "", "version": "", "kind": ""}})
	}
	return []any{kind}
}

func (g generator) definitions(depth int) object {
	out := object{}
	for i, name := range g.names {
		s := g.schema(depth)
		if g.chance(2) {
			s["x-kubernetes-group-version-kind"] = g.kinds(i)
		}
		out[name] = s
	}
	return out
}

// rounds calls f with generators of increasing mischief, each with its own seed.
func rounds(t *testing.T, n int, f func(seed uint64, g generator)) {
	for seed := range seeds.Each(t, n) {
		g := generator{Rand: seeds.Stream(seed, 0), mischief: []int{0, 40, 8}[seed%3]}
		f(seed, g)
	}
}

// failures stops a test after a number of failures.
func failures(t *testing.T, seed uint64) {
	t.Helper()
	if t.Failed() {
		t.Fatalf("seed %d", seed)
	}
}

var names = []string{"g.T", "g.U", "io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.runtime.RawExtension"}

func TestRandomV3(t *testing.T) {
	accepted := 0
	rounds(t, 3000, func(seed uint64, g generator) {
		g.refs, g.names = "#/components/schemas/", names
		doc := text(object{"openapi": "3.0.0", "info": object{}, "components": object{"schemas": g.definitions(3)}})
		got, err := openapi.V3(doc)
		compare(t, string(doc), got, err, referenceV3(t, doc), false)
		if err == nil {
			accepted++
		}
		failures(t, seed)
	})
	enough(t, accepted, 3000)
}

func TestRandomV2(t *testing.T) {
	accepted := 0
	rounds(t, 3000, func(seed uint64, g generator) {
		g.refs, g.names = "#/definitions/", names
		definitions := g.definitions(3)
		for _, s := range definitions {
			if g.chance(4) {
				s.(object)["x-kubernetes-unions"] = g.unions()
			}
		}
		if g.bad() {
			definitions["g.Again"] = object{"type": "object", "x-kubernetes-group-version-kind": g.kinds(0)}
		}
		doc := text(object{"swagger": "2.0", "info": object{"title": "", "version": ""}, "paths": object{},
			"definitions": plain(definitions, g)})
		got, err := openapi.V2(doc)
		compare(t, string(doc), got, err, referenceV2(t, doc), false)
		if err == nil {
			accepted++
		}
		failures(t, seed)
	})
	enough(t, accepted, 3000)
}

// plain returns v without keywords that OpenAPI v2 lacks and without types that its models reject, with rare exceptions.
func plain(v any, g generator) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i], g)
		}
	case object:
		for _, name := range []string{"nullable", "anyOf", "oneOf", "not"} {
			if !g.bad() {
				delete(v, name)
			}
		}
		if v["$ref"] != nil && !g.bad() {
			delete(v, "type")
			delete(v, "properties")
		}
		for name := range v {
			v[name] = plain(v[name], g)
		}
	}
	return v
}

func (g generator) unions() any {
	union := object{"discriminator": "type", "fields-to-discriminateBy": object{"a": "A", "b": "B"}}
	if g.bad() {
		union["discriminator"] = g.oneOf(1, "a")
	}
	if g.bad() {
		union["fields-to-discriminateBy"] = g.oneOf("a", object{"a": 1}, object{"a": "A", "b": "A"})
	}
	if g.bad() {
		return g.oneOf("union", []any{1}, []any{union, union})
	}
	return []any{union}
}

func TestRandomCRD(t *testing.T) {
	accepted := 0
	rounds(t, 450, func(seed uint64, g generator) {
		crd := g.crd()
		v, err := value.Parse(crd)
		if err != nil {
			t.Fatal(err)
		}
		want := referenceCRD(t, crd)
		got, err := openapi.CRD(v)
		compare(t, string(crd), got, err, want, true)
		if err == nil {
			accepted++
			failures(t, seed)
			if len(got.Kinds) != v.Get("spec", "versions").Len() {
				t.Errorf("%s\ngot kinds %v", crd, got.Kinds)
			}
		}
		failures(t, seed)
	})
	enough(t, accepted, 450)
}

func (g generator) crd() []byte {
	var versions []any
	for i := range 1 + g.IntN(3) {
		v := object{"name": fmt.Sprint("v", i+1), "served": g.chance(2), "storage": i == 0}
		if !g.chance(10) {
			v["schema"] = object{"openAPIV3Schema": g.root()}
		}
		if g.chance(3) {
			v["subresources"] = object{"status": object{}, "scale": object{"specReplicasPath": ".a", "statusReplicasPath": ".b"}}
		}
		versions = append(versions, v)
	}
	return text(object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "ts.g.io"},
		"spec": object{
			"group": "g.io", "scope": g.oneOf("Namespaced", "Cluster"), "preserveUnknownFields": g.chance(6),
			"names":    object{"kind": "T", "listKind": "TList", "plural": "ts", "singular": "t"},
			"versions": versions,
		},
	})
}

// root returns the schema of a custom resource.
func (g generator) root() object {
	s := object{}
	g.object(s, 3)
	if !g.bad() {
		delete(s, "additionalProperties")
		delete(s, "x-kubernetes-embedded-resource")
	}
	if g.chance(3) {
		s[g.oneOf("allOf", "anyOf", "oneOf").(string)] = g.junctors(3)
	}
	if g.chance(6) {
		s["not"] = g.junctor(2)
	}
	if fields, ok := s["properties"].(object); ok {
		g.fix(fields)
	}
	return s
}

// fix sets the required fields of the root, mostly.
func (g generator) fix(fields object) {
	metadata := object{"type": "object"}
	if g.chance(2) {
		metadata["properties"] = object{g.oneOf("name", "generateName").(string): object{"type": "string", "pattern": "^a"}}
	}
	if g.bad() {
		metadata[g.oneOf("description", "format", "pattern").(string)] = "x"
	}
	if g.bad() {
		metadata["properties"] = object{"labels": object{"type": "object"}}
	}
	required := object{"metadata": metadata, "kind": object{"type": "string"}, "apiVersion": object{"type": "string"}}
	for name, s := range required {
		if _, there := fields[name]; there && !g.bad() {
			fields[name] = s
		}
	}
}

// TestRandomStructural compares which schemas are structural, with many more schemas than whole definitions could have.
func TestRandomStructural(t *testing.T) {
	verdicts := map[bool]int{}
	rounds(t, 8000, func(seed uint64, g generator) {
		root := g.root()
		if g.bad() {
			root[g.oneOf("$ref", "id", "$schema", "title").(string)] = g.oneOf("", "x")
		}
		if g.bad() {
			root[g.oneOf("definitions", "patternProperties", "dependencies").(string)] = g.oneOf(object{}, object{"x": object{}})
		}
		var props apiextensionsv1.JSONSchemaProps
		if err := utiljson.Unmarshal(text(root), &props); err != nil {
			return // every API server refuses it
		}
		want := isStructural(t, &props)
		v, err := value.Parse(text(object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"spec": object{"group": "g.io", "names": object{"kind": "T"}, "versions": []any{
				object{"name": "v1", "schema": object{"openAPIV3Schema": root}}}},
		}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := openapi.CRD(v)
		if err != nil {
			return // an unknown keyword, which TestRandomCRD compares
		}
		verdicts[want]++
		if (len(got.Warnings) == 0) != want {
			t.Fatalf("seed %d: %s\nstructural: %v, but warnings are %v", seed, text(root), want, got.Warnings)
		}
	})
	t.Logf("structural: %d, others: %d", verdicts[true], verdicts[false])
	if verdicts[true] < 1000 || verdicts[false] < 1000 {
		t.Error("the schemas are too much alike")
	}
}

func isStructural(t *testing.T, props *apiextensionsv1.JSONSchemaProps) bool {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		t.Fatal(err)
	}
	if validation.SchemaHasInvalidTypes(&internal) {
		return false
	}
	s, err := structural.NewStructural(&internal)
	return err == nil && len(structural.ValidateStructural(nil, s)) == 0
}

func text(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// enough checks that a sufficient part of the inputs was accepted and refused.
func enough(t *testing.T, accepted, of int) {
	t.Helper()
	t.Logf("%d of %d accepted", accepted, of)
	if accepted < of/10 || accepted == of {
		t.Errorf("%d of %d inputs accepted", accepted, of)
	}
}
