// Package openapi compares the conversions of schema/openapi with those of Kubernetes.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// reference is Kubernetes' outcome for an input: types by name, in the text form of schemas, or an error. It also has the type of each
// requested kind.
type reference struct {
	types map[string]value.Value
	kind  func(schema.GVK) bool
	err   error
}

func referenceV2(t *testing.T, doc []byte) reference {
	t.Helper()
	parsed, err := openapiv2.ParseDocument(doc)
	if err != nil {
		return reference{err: err}
	}
	models, err := proto.NewOpenAPIData(parsed)
	if err != nil {
		return reference{err: err}
	}
	converted, err := schemaconv.ToSchema(models)
	if err != nil {
		return reference{err: err}
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		return reference{err: err}
	}
	return reference{types: typesOf(t, converted), kind: func(gvk schema.GVK) bool {
		return parser.Type(gvkschema.GroupVersionKind(gvk)) != nil
	}}
}

func referenceV3(t *testing.T, doc []byte) reference {
	t.Helper()
	var parsed spec3.OpenAPI
	if err := json.Unmarshal(doc, &parsed); err != nil {
		return reference{err: err}
	}
	return referenceModels(t, parsed.Components.Schemas, false)
}

func referenceModels(t *testing.T, models map[string]*spec.Schema, preserve bool) reference {
	t.Helper()
	converted, err := schemaconv.ToSchemaFromOpenAPI(models, preserve)
	if err != nil {
		return reference{err: err}
	}
	converter, err := managedfields.NewTypeConverter(models, preserve)
	if err != nil {
		return reference{err: err}
	}
	return reference{types: typesOf(t, converted), kind: func(gvk schema.GVK) bool {
		var u unstructured.Unstructured
		u.SetGroupVersionKind(gvkschema.GroupVersionKind(gvk))
		_, err := converter.ObjectToTyped(&u)
		return err == nil || !strings.Contains(err.Error(), "no corresponding type")
	}}
}

// referenceCRD converts a CustomResourceDefinition as the API server does before it serves a version.
func referenceCRD(t *testing.T, text []byte) reference {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := utiljson.Unmarshal(text, &crd); err != nil {
		return reference{err: err}
	}
	var specs []*spec3.OpenAPI
	for _, v := range crd.Spec.Versions {
		s, err := builder.BuildOpenAPIV3(&crd, v.Name, builder.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		specs = append(specs, s)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return referenceModels(t, merged.Components.Schemas, crd.Spec.PreserveUnknownFields)
}

// typesOf returns the types of s in the text form, with sorted fields and without unions.
func typesOf(t *testing.T, s *smd.Schema) map[string]value.Value {
	t.Helper()
	out := map[string]value.Value{}
	for _, def := range s.Types {
		if _, again := out[def.Name]; again {
			t.Fatalf("the reference defines %s twice", def.Name)
		}
		d := schema.Document{Types: []schema.TypeDef{{Name: def.Name, Atom: atomOf(t, def.Atom)}}}
		out[def.Name] = d.Value()
	}
	return out
}

func atomOf(t *testing.T, a smd.Atom) schema.Atom {
	var out schema.Atom
	if a.Scalar != nil {
		out.Scalar, out.Word = schemas.ParseScalar(string(*a.Scalar)), string(*a.Scalar)
	}
	if a.List != nil {
		out.List = &schema.ListDef{
			ElementType:  refOf(t, a.List.ElementType),
			Relationship: schema.Relationship(a.List.ElementRelationship),
			Keys:         a.List.Keys,
		}
	}
	if a.Map != nil {
		out.Map = &schema.MapDef{
			ElementType:  refOf(t, a.Map.ElementType),
			Relationship: schema.Relationship(a.Map.ElementRelationship),
		}
		for _, f := range a.Map.Fields {
			out.Map.Fields = append(out.Map.Fields, schema.FieldDef{Name: f.Name, Type: refOf(t, f.Type), Default: defaultOf(t, f.Default)})
		}
		slices.SortFunc(out.Map.Fields, func(a, b schema.FieldDef) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

func refOf(t *testing.T, r smd.TypeRef) schema.TypeRef {
	out := schema.TypeRef{Inlined: atomOf(t, r.Inlined), Nullable: r.Nullable}
	if r.NamedType != nil {
		out.NamedType = *r.NamedType
	}
	if r.ElementRelationship != nil {
		out.Relationship = schema.Relationship(*r.ElementRelationship)
	}
	return out
}

func defaultOf(t *testing.T, v any) value.Value {
	if v == nil {
		return value.Value{}
	}
	out, err := value.FromAny(jsonOf(v))
	if err != nil {
		t.Fatalf("default %#v: %v", v, err)
	}
	return out
}

// jsonOf converts v from the form of YAML decoders to that of JSON decoders.
func jsonOf(v any) any {
	switch v := v.(type) {
	case uint64:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = jsonOf(v[i])
		}
		return out
	case map[any]any:
		out := map[string]any{}
		for name, member := range v {
			out[fmt.Sprint(name)] = jsonOf(member)
		}
		return out
	}
	return v
}

// compare reports the differences between want and the outcome of a conversion, got and err. With part set, got may lack other types.
func compare(t *testing.T, input string, got *openapi.Definitions, err error, want reference, part bool) {
	t.Helper()
	if (err == nil) != (want.err == nil) {
		t.Errorf("%s\ngot error %v\nwant error %v", input, err, want.err)
		return
	}
	if err != nil {
		compareProblems(t, input, err, want.err)
		return
	}
	types := map[string]value.Value{}
	for _, def := range got.Document.Types {
		d := schema.Document{Types: []schema.TypeDef{def}}
		types[def.Name] = d.Value()
	}
	for name, text := range types {
		if !want.types[name].Equal(text) {
			t.Errorf("%s\ntype %s\ngot  %v\nwant %v", input, name, text, want.types[name])
		}
	}
	if !part && len(types) != len(want.types) {
		t.Errorf("%s\ngot types %q, want %q", input, slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(want.types)))
	}
	known := map[schema.GVK]bool{}
	for _, kind := range got.Kinds {
		known[kind.GVK] = true
		if !want.kind(kind.GVK) {
			t.Errorf("%s\n%v is no kind", input, kind.GVK)
		}
	}
	for _, name := range []string{"Kind0", "Kind1", "Kind2", "Kind3", "T", "TList"} { // of random definitions
		if gvk := (schema.GVK{Group: "g.io", Version: "v1", Kind: name}); want.kind(gvk) != known[gvk] {
			t.Errorf("%s\n%v is a kind: %v", input, gvk, want.kind(gvk))
		}
	}
}

// compareProblems checks that every line of the reference's error is one of the problems that got joins. It skips lines about unions,
// because the reference stops at the first defect of a type's unions.
func compareProblems(t *testing.T, input string, got, want error) {
	t.Helper()
	words := problemWords(got)
	if len(words) == 0 {
		return // a loader error, whose text may differ
	}
	for _, line := range strings.Split(want.Error(), "\n") {
		if !strings.Contains(line, "discriminat") && !strings.Contains(line, "unions") && !slices.Contains(words, line) {
			t.Errorf("%s\nno problem says %q; got\n%s", input, line, strings.Join(words, "\n"))
		}
	}
}

// problemWords returns the problems that err joins, without their places.
func problemWords(err error) []string {
	var words []string
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	for _, err := range joined.Unwrap() {
		if p, ok := err.(*openapi.Problem); ok {
			words = append(words, strings.Repeat("inlined in ", p.Depth)+p.Type+": "+p.Reason)
		}
	}
	return words
}
