package openapi_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/value"
)

// The tests of package server compare whole documents with those of a kube-apiserver.

var of = openapi.Server{Release: version.Info{EmulationMajor: "1", EmulationMinor: "37"}}

// TestV2Custom compares the schema of a custom resource, which says more than v2 can, with that of a kube-apiserver.
func TestV2Custom(t *testing.T) {
	text, err := os.ReadFile("testdata/rat.json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Definition, Want value.Value }
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	document := openapi.V2(catalog.New(compile(t, c.Definition)), of)
	if got := bare(document.Get("definitions", "org.example.r.v1.Rat")); !got.Equal(c.Want) {
		t.Errorf(" got %v\nwant %v", got, c.Want)
	}
}

func compile(t *testing.T, definition value.Value) *catalog.Resource {
	t.Helper()
	status, _ := crd.Accept(definition, crd.Names{}, crd.Seen{}, time.Now())
	resource, err := crd.Compile(definition.With("status", status), time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resource
}

// bare returns a schema without descriptions.
func bare(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		var out []value.Value
		for item := range v.Items() {
			out = append(out, bare(item))
		}
		return value.List(out...)
	case value.KindObject:
		out := value.Object()
		for name, member := range v.Members() {
			if name != "description" || member.Kind() != value.KindString {
				out = out.With(name, bare(member))
			}
		}
		return out
	}
	return v
}

// TestBuiltInWins defines resources in a version of a built-in group. The document of the version does not mention them. That of the whole
// catalog has the paths that no built-in kind has, and the schemas that these paths refer to.
func TestBuiltInWins(t *testing.T) {
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	const path, root = "apis/networking.k8s.io/v1", "/apis/networking.k8s.io/v1/"
	before := openapi.V3(catalog.New(kinds...), path, of)
	custom := func(plural, kind string) *catalog.Resource {
		names := `"names":{"plural":"` + plural + `","singular":"` + plural + `","kind":"` + kind + `","listKind":"` + kind + `List"}`
		definition, err := value.Parse([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + plural + `.networking.k8s.io"},"spec":{"group":"networking.k8s.io",` + names +
			`,"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return compile(t, definition)
	}
	c := catalog.New(append(kinds, custom("cars", "Car"), custom("ingresses", "Other"))...)
	if !openapi.V3(c, path, of).Equal(before) || !slices.Contains(openapi.Paths(c), path) {
		t.Error("a custom resource changes the document of built-in kinds")
	}
	whole := openapi.V2(c, of)
	if whole.Get("paths", root+"cars").IsAbsent() || whole.Get("definitions", "io.k8s.networking.v1.Car").IsAbsent() {
		t.Error("the document of all resources lacks the custom resource")
	}
	tag := whole.Get("paths", root+"ingresses", "get", "x-kubernetes-group-version-kind", "kind").Str()
	if tag != "Ingress" {
		t.Errorf("ingresses are %q", tag)
	}
}

// TestCBOR compares the media types of operations with those of a kube-apiserver that reads and writes CBOR.
func TestCBOR(t *testing.T) {
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	with := of
	with.CBOR = true
	document := openapi.V2(catalog.New(kinds...), with)
	const item = "/api/v1/namespaces/{namespace}/configmaps/{name}"
	for _, c := range []struct{ path, method, member, want string }{
		{item, "get", "produces", `["application/json","application/yaml","application/vnd.kubernetes.protobuf","application/cbor"]`},
		{item, "patch", "consumes", `["application/json-patch+json","application/merge-patch+json","application/strategic-merge-patch+json",` +
			`"application/apply-patch+yaml","application/apply-patch+cbor"]`},
		{"/api/v1/configmaps", "get", "produces", `["application/json","application/yaml","application/vnd.kubernetes.protobuf","application/cbor",` +
			`"application/json;stream=watch","application/vnd.kubernetes.protobuf;stream=watch","application/cbor-seq"]`},
		{"/version/", "get", "produces", `["application/json"]`},
	} {
		if got := document.Get("paths", c.path, c.method, c.member).String(); got != c.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", c.method, c.path, c.member, got, c.want)
		}
	}
	if text := openapi.V2(catalog.New(kinds...), of).String(); strings.Contains(text, "cbor") {
		t.Error("the document of a server without CBOR mentions it")
	}
}
