package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/oracle/kinds"
)

// committed is the generated file that package schema/builtin embeds.
const committed = "../../schema/builtin/schema.json"

// sizeLimit bounds the size of the embedded schemas, which every program with package builtin contains.
const sizeLimit = 500_000

func TestCommittedFileIsCurrent(t *testing.T) {
	got, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) >= sizeLimit {
		t.Errorf("the schemas have %d bytes, want less than %d", len(got), sizeLimit)
	}
	doc, _, err := collect(kinds.Sources())
	if err != nil {
		t.Fatal(err)
	}
	want, err := encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go generate ./schema/builtin", committed)
	}
}

func TestOutputIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		var log bytes.Buffer
		if err := run(dir+"/schema.json", true, &log); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "/v1, Kind=PodList: schema error") {
			t.Errorf("the log does not report PodList as left out:\n%s", log.String())
		}
		text, err := os.ReadFile(dir + "/schema.json")
		if err != nil {
			t.Fatal(err)
		}
		files[i] = text
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two runs wrote different bytes")
	}
}

// TestDocumentIsExact checks that the reference library parses the document to the schema that it was made of.
func TestDocumentIsExact(t *testing.T) {
	doc, _, err := collect(kinds.Sources())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(struct {
		Types []typeDef `json:"types"`
	}{doc.Types})
	if err != nil {
		t.Fatal(err)
	}
	parser, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]smdschema.TypeDef{}
	if err := addTypes(got, &parser.Schema); err != nil {
		t.Fatal(err)
	}
	checked := map[string]bool{}
	for i, gvk := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Pod"),
		apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
		apiregistrationv1.SchemeGroupVersion.WithKind("APIService"),
	} {
		_, want, err := typeOf(kinds.Sources()[i], gvk)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want.Types {
			def := want.Types[j]
			checked[def.Name] = true
			if diff := cmp.Diff(def, got[def.Name], schemaOptions); diff != "" {
				t.Errorf("type %s (-source +document):\n%s", def.Name, diff)
			}
		}
	}
	if len(checked) != len(got) {
		t.Errorf("the document has %d types, the sources have %d", len(got), len(checked))
	}
}

// schemaOptions ignores caches, and unions, which the reference library ignores too.
var schemaOptions = cmp.Options{
	cmpopts.IgnoreUnexported(smdschema.Map{}, smdschema.Schema{}),
	cmpopts.IgnoreFields(smdschema.Map{}, "Unions"),
}

func TestKindsOfEverySource(t *testing.T) {
	doc, _, err := collect(kinds.Sources())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []kind{
		{"", "v1", "ConfigMap", "io.k8s.api.core.v1.ConfigMap", []byte(`{"metadata":{}}`)},
		{"", "v1", "Service", "io.k8s.api.core.v1.Service", []byte(`{"metadata":{},"spec":{},"status":{"loadBalancer":{}}}`)},
		{"", "v1", "DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", nil},
		{"apps", "v1beta2", "ControllerRevision", "io.k8s.api.apps.v1beta2.ControllerRevision", []byte(`{"metadata":{},"data":null,"revision":0}`)},
		{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
			"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
			[]byte(`{"metadata":{},"spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}`)},
		{"apiregistration.k8s.io", "v1", "APIService", "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
			[]byte(`{"metadata":{},"spec":{"groupPriorityMinimum":0,"versionPriority":0},"status":{}}`)},
	} {
		same := func(k kind) bool { return reflect.DeepEqual(k, want) }
		if !slices.ContainsFunc(doc.GVKs, same) {
			t.Errorf("the document lacks %+v", want)
		}
	}
}

func TestDifferentTypesOfOneNameAreRefused(t *testing.T) {
	name := "io.k8s.api.core.v1.Pod"
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	impostor, err := typed.NewParser(typed.YAMLObject(`{"types": [{"name": "` + name + `", "map": {"elementType": {"scalar": "string"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	two := append(kinds.Sources()[:1:1], kinds.Source{Scheme: scheme, Types: managedfields.NewSchemeTypeConverter(scheme, impostor)})
	if _, _, err := collect(two); err == nil || !strings.Contains(err.Error(), "two different types are named "+name) {
		t.Errorf("collect answered %v", err)
	}
}

func TestDefaultsThatJSONCannotPrint(t *testing.T) {
	for _, v := range []any{map[any]any{1: "x"}, []any{uint8(1)}, map[any]any{"a": []any{map[any]any{true: 1}}}} {
		if text, err := convertDefault(v); err == nil {
			t.Errorf("convertDefault(%#v) = %s, want an error", v, text)
		}
	}
	text, err := convertDefault(map[any]any{"a": []any{1, "x", nil}})
	if want := `{"a":[1,"x",null]}`; err != nil || string(text) != want {
		t.Errorf("convertDefault = %s, %v; want %s", text, err, want)
	}
}
