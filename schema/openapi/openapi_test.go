package openapi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

func docV3(schemas string) []byte {
	return []byte(`{"openapi":"3.0.0","components":{"schemas":` + schemas + `}}`)
}

const (
	ownerOne = `"io.k8s.apimachinery.pkg.apis.meta.v1.O":{"type":"object","properties":{"a":{"type":"string"}}}`
	ownerTwo = `"io.k8s.apimachinery.pkg.apis.meta.v1.O":{"type":"object","properties":{"b":{"type":"string"}}}`
)

func TestV3Documents(t *testing.T) {
	d, err := openapi.V3(
		docV3(`{"T":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"T"}]},`+ownerOne+`}`),
		docV3(`{"T":{"type":"object","description":"the same","x-kubernetes-group-version-kind":[{"group":"g","version":"v2","kind":"T"}]},`+ownerTwo+`}`),
		docV3(`{"U":{"type":"array","items":{"$ref":"#/components/schemas/T"}}}`),
		[]byte(`{"openapi":"3.1.0"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, def := range d.Document.Types {
		names = append(names, def.Name)
		if strings.HasSuffix(def.Name, ".O") && def.Map.Fields[0].Name != "a" {
			t.Errorf("of the metadata types the first does not count: %+v", def.Map.Fields)
		}
	}
	want := []string{"T", "U", schema.UntypedAtomicName, schema.DeducedName, "io.k8s.apimachinery.pkg.apis.meta.v1.O"}
	if !slices.Equal(names, want) {
		t.Errorf("got types %q, want %q", names, want)
	}
	v1, v2 := schema.GVK{Group: "g", Version: "v1", Kind: "T"}, schema.GVK{Group: "g", Version: "v2", Kind: "T"}
	if want := []openapi.Kind{{GVK: v1, Type: "T"}, {GVK: v2, Type: "T"}}; !slices.Equal(d.Kinds, want) {
		t.Errorf("got kinds %v, want %v", d.Kinds, want)
	}
}

func TestV3Errors(t *testing.T) {
	_, err := openapi.V3(
		docV3(`{"T":{"type":"string"}}`),
		docV3(`{"T":{"type":"integer"}}`),
		[]byte(`{"openapi":`),
		[]byte(`{"swagger":"2.0"}`),
		docV3(`{"U":{"type":"file"}}`),
	)
	want := "T: documents 1 and 2 define different types\n" +
		"document 3: invalid JSON at byte 11, in .openapi: unexpected end, want a value\n" +
		"document 4 is not OpenAPI v3: its member openapi is absent\n" +
		"U: unrecognized type: 'file'"
	if err == nil || err.Error() != want {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
	var p *openapi.Problem
	if !errors.As(err, &p) || p.Type != "T" || p.Path != "" || p.Depth != 0 {
		t.Errorf("got problem %+v, want one about T", p)
	}
	var syntax *value.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 11 {
		t.Errorf("got syntax error %+v, want one at byte 11", syntax)
	}
}

func TestV2Errors(t *testing.T) {
	for doc, want := range map[string]string{
		`{`:                                  "invalid JSON at byte 1: unexpected end, want a name in double quotes",
		`{"openapi":"3.0.0"}`:                "the document is not OpenAPI v2: its member swagger is absent",
		`{"swagger":2}`:                      "the document is not OpenAPI v2: its member swagger is 2",
		`{"swagger":"2.0"}`:                  "",
		`{"swagger":"2.0","definitions":{}}`: "",
	} {
		d, err := openapi.V2([]byte(doc))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: got error %v, want %s", doc, err, want)
		}
		if err == nil && len(d.Document.Types) != 2 {
			t.Errorf("%s: got types %v", doc, d.Document.Types)
		}
	}
}

func TestCatalog(t *testing.T) {
	d, err := openapi.V3(docV3(`{
		"T":{"type":"object","properties":{"u":{"$ref":"#/components/schemas/U"}},"x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"T"}]},
		"V":{"$ref":"#/components/schemas/T","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"V"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := d.Catalog()
	want := `type "T": map.fields[u].type: refers to type "U", which is not defined` + "\n" +
		`g/v1, Kind=V has the type "V", which is not defined`
	if err == nil || err.Error() != want {
		t.Errorf("got problems\n%v\nwant\n%s", err, want)
	}
	if typ, ok := catalog.Lookup(schema.GVK{Group: "g", Version: "v1", Kind: "T"}); !ok || typ.Name() != "T" {
		t.Errorf("got type %v for T", typ)
	}
	if _, ok := catalog.Lookup(schema.GVK{Group: "g", Version: "v1", Kind: "V"}); ok {
		t.Error("found a type for V")
	}
}

func TestCRDObjectMeta(t *testing.T) {
	d := crd(t, `{"type":"object"}`)
	catalog, err := d.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	root, ok := catalog.Lookup(schema.GVK{Group: "g.io", Version: "v1", Kind: "T"})
	if !ok {
		t.Fatal("no type")
	}
	metadata, _ := root.Map().Lookup("metadata")
	for name, want := range map[string]schema.Topology{
		"finalizers": schema.SetList, "ownerReferences": schema.KeyedList, "managedFields": schema.AtomicList,
	} {
		if field, ok := metadata.Map().Lookup(name); !ok || field.List().Topology() != want {
			t.Errorf("%s has topology %v, want %v", name, field.List().Topology(), want)
		}
	}
	owners, _ := metadata.Map().Lookup("ownerReferences")
	if keys := owners.List().Keys(); len(keys) != 1 || keys[0].Name != "uid" || keys[0].Default.String() != `""` {
		t.Errorf("ownerReferences have keys %v", keys)
	}
	if !owners.List().Element().Map().Atomic() {
		t.Error("an ownerReference is not atomic")
	}
	if _, declared := metadata.Map().Lookup("extra"); declared || metadata.Map().Element() != nil {
		t.Error("metadata admits unknown fields")
	}
}

func TestCRDErrors(t *testing.T) {
	_, err := openapi.CRD(value.Null())
	var e *openapi.SchemaError
	if !errors.As(err, &e) || e.Path != "kind" {
		t.Errorf("got error %v, want a *SchemaError about the kind", err)
	}
	d := crd(t, `{"type":"object","properties":{"a":{}}}`)
	if len(d.Warnings) != 1 || !errors.As(d.Warnings[0], &e) {
		t.Fatalf("got warnings %v, want one", d.Warnings)
	}
	if want := (openapi.SchemaError{
		CRD: "ts.g.io", Version: "v1", Path: "spec.versions[0].schema.openAPIV3Schema.properties[a].type", Reason: "must be given",
	}); *e != want {
		t.Errorf("got warning %+v, want %+v", *e, want)
	}
}

// TestCRDNulls reads schemas that are null where one may stand: an API server takes them for empty.
func TestCRDNulls(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":null}}`:                          "openAPIV3Schema.properties[a].type: must be given",
		`{"type":"object","allOf":[null],"items":null}`:                      "",
		`{"type":"object","properties":{"a":{"type":"array","items":null}}}`: "openAPIV3Schema.properties[a].items: must be given",
		`{"type":"object","additionalProperties":null,"properties":null}`:    "",
	} {
		d := crd(t, schema)
		if got := fmt.Sprint(d.Warnings); want == "" && len(d.Warnings) > 0 || !strings.Contains(got, want) {
			t.Errorf("%s: got warnings %s, want %q", schema, got, want)
		}
	}
}

// crd converts the definition of one version with schema.
func crd(t *testing.T, schema string) *openapi.Definitions {
	t.Helper()
	v, err := value.Parse([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ts.g.io"},
		"spec":{"group":"g.io","names":{"kind":"T"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":` + schema + `}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.CRD(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
