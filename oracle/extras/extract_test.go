package extras

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	reference "k8s.io/apimachinery/pkg/util/managedfields"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/history"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	deedtyped "github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// parser has the types of the built-in kinds for the reference.
var parser = sync.OnceValues(func() (*typed.Parser, error) {
	text, err := os.ReadFile("../../schema/builtin/schema.json")
	if err != nil {
		return nil, err
	}
	file, err := value.Parse(text)
	if err != nil {
		return nil, err
	}
	types := value.Object(value.Member{Name: "types", Value: file.Get("types")})
	return typed.NewParser(typed.YAMLObject(types.AppendJSON(nil)))
})

// extractReference returns the configuration that the reference extracts, with the identity that generated clients add.
func extractReference(t *testing.T, object []byte, typeName, manager string) (value.Value, error) {
	t.Helper()
	p, err := parser()
	if err != nil {
		t.Fatal(err)
	}
	in, out := &unstructured.Unstructured{}, &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(object, &in.Object); err != nil {
		t.Fatal(err)
	}
	if err := reference.ExtractInto(in, p.Type(typeName), manager, out, ""); err != nil {
		return value.Value{}, err
	}
	if len(out.Object) == 0 {
		return value.Value{}, nil
	}
	out.SetGroupVersionKind(in.GroupVersionKind())
	out.SetName(in.GetName())
	if in.GetNamespace() != "" {
		out.SetNamespace(in.GetNamespace())
	}
	v, err := value.FromAny(out.Object)
	if err != nil {
		t.Fatal(err)
	}
	return v, nil
}

// recordings are the recorded histories of all kinds.
func recordings(t *testing.T) []history.Recording {
	t.Helper()
	packed, err := os.ReadFile("../../testdata/histories.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	all, err := history.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExtract(t *testing.T) {
	seed, compared := seeds.First(t), 0
	for i, kind := range recordings(t) {
		gvk := schema.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
		typ, ok := builtin.Catalog().Lookup(gvk)
		if !ok {
			t.Fatalf("no type for %v", gvk)
		}
		for j, record := range kind.Records {
			if record.Object == nil {
				continue
			}
			o, err := managedfields.ParseObject(record.Object)
			if err != nil {
				t.Fatal(err)
			}
			for _, manager := range []string{"alpha", "beta", "gamma", "controller", "nobody"} {
				compared += compareExtract(t, o, typ, manager)
			}
			r := seeds.Stream(seed+uint64(i), j)
			o.Entries = []managedfields.Entry{{
				Manager: "random", Operation: merge.Apply, APIVersion: gvk.APIVersion(), FieldsType: "FieldsV1",
				FieldsV1: managedfields.FieldsOf(randomFields(t, r, o.Content, typ)),
			}}
			compared += compareExtract(t, o, typ, "random")
		}
	}
	if compared < 500 {
		t.Errorf("only %d configurations compared", compared)
	}
}

// compareExtract compares the configurations that manager applied to o. It returns 1 if there is one, and otherwise 0.
func compareExtract(t *testing.T, o managedfields.Object, typ *schema.Type, manager string) int {
	t.Helper()
	text := o.AppendJSON(nil)
	want, wantErr := extractReference(t, text, typ.Name(), manager)
	got, gotErr := ownership.Extract(o, typ, manager, "")
	if wantErr != nil && strings.Contains(wantErr.Error(), "expected map, got <nil>") {
		// The reference fails if the manager owns no field of the object. Deed extracts the identity alone.
		if gotErr != nil || !got.Get("spec").IsAbsent() || got.Get("metadata", "name").Str() == "" {
			t.Errorf("%s of %s: deed extracts %v, %v", manager, text, got, gotErr)
		}
		return 0
	}
	if (wantErr == nil) != (gotErr == nil) || !want.Equal(got) {
		t.Errorf("%s of %s:\nreference %v, %v\ndeed      %v, %v", manager, text, want, wantErr, got, gotErr)
	}
	if got.IsAbsent() {
		return 0
	}
	return 1
}

// randomFields returns some fields of an object like those of an applier: items have their keys.
func randomFields(t *testing.T, r *rand.Rand, content value.Value, typ *schema.Type) fieldpath.Set {
	t.Helper()
	v, err := deedtyped.New(content, typ)
	if err != nil {
		t.Fatal(err)
	}
	all := v.Fields()
	var b fieldpath.Builder
	for path := range all.All() {
		if r.IntN(3) > 0 {
			continue
		}
		b.Add(path)
		for i, e := range path {
			if e.Kind() != fieldpath.KindKey {
				continue
			}
			b.Add(path[:i+1])
			for _, key := range e.Fields() {
				if name := append(path[:i+1:i+1], fieldpath.Field(key.Name)); all.Has(name) {
					b.Add(name)
				}
			}
		}
	}
	return b.Set()
}

// TestExtractDeployment compares with the generated function of a Go struct.
func TestExtractDeployment(t *testing.T) {
	compared := 0
	for _, kind := range recordings(t) {
		if kind.Kind != "Deployment" {
			continue
		}
		typ, _ := builtin.Catalog().Lookup(schema.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
		for _, record := range kind.Records {
			var deployment appsv1.Deployment
			if record.Object == nil {
				continue
			}
			if err := json.Unmarshal(record.Object, &deployment); err != nil {
				t.Fatal(err)
			}
			config, err := applyappsv1.ExtractDeployment(&deployment, record.Manager)
			if err != nil {
				t.Fatal(err)
			}
			want, err := structs.From(config)
			if err != nil {
				t.Fatal(err)
			}
			o, err := managedfields.ParseObject(record.Object)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ownership.Extract(o, typ, record.Manager, "")
			if err != nil {
				t.Fatal(err)
			}
			if got.IsAbsent() { // the generated function still adds the identity
				continue
			}
			if compared++; !want.Equal(got) {
				t.Errorf("%s of %s:\nreference %v\ndeed      %v", record.Manager, record.Step, want, got)
			}
		}
	}
	if compared < 5 {
		t.Errorf("only %d compared", compared)
	}
}

// TestReferenceLeavesOutKeys shows a difference: from an item whose keys are not owned, the reference extracts a configuration that cannot
// be applied. Deed adds the keys. The test fails once the reference does so too.
func TestReferenceLeavesOutKeys(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1",
		"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}}}}}]},
		"spec":{"ports":[{"port":80,"protocol":"TCP","name":"web"}]}}`
	got, err := extractReference(t, []byte(object), "io.k8s.api.core.v1.Service", "m")
	if err != nil {
		t.Fatal(err)
	}
	if port := got.Get("spec", "ports").Item(0); port.String() != `{"name":"web"}` {
		t.Errorf("the reference extracts %v", port)
	}
	o, err := managedfields.ParseObject([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := builtin.Catalog().Lookup(schema.ParseGVK("v1", "Service"))
	if got, err = ownership.Extract(o, typ, "m", ""); err != nil {
		t.Fatal(err)
	}
	if port := got.Get("spec", "ports").Item(0); port.String() != `{"name":"web","port":80}` {
		t.Errorf("deed extracts %v", port)
	}
}

// TestExtractDuplicates checks that both refuse an object with a repeated item.
func TestExtractDuplicates(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":80},{"port":80}]}}`
	if _, err := extractReference(t, []byte(object), "io.k8s.api.core.v1.Service", "m"); err == nil {
		t.Error("the reference accepts it")
	}
	o, err := managedfields.ParseObject([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := builtin.Catalog().Lookup(schema.ParseGVK("v1", "Service"))
	if _, err := ownership.Extract(o, typ, "m", ""); err == nil {
		t.Error("deed accepts it")
	}
}
