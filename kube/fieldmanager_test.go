package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	apimachinery "k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/kube"
)

// fieldManager has the methods of both field managers.
type fieldManager interface {
	Apply(liveObj, appliedObj runtime.Object, manager string, force bool) (runtime.Object, error)
	Update(liveObj, newObj runtime.Object, manager string) (runtime.Object, error)
}

// server converts, makes and fills in objects of the kind Gizmo. It fails for an object called stuck, and makes no object if it is broken.
type server struct{ broken bool }

var gizmo = gvkschema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gizmo"}

func (server) Convert(_, _, _ any) error { return errors.New("unused") }

func (server) ConvertFieldLabel(_ gvkschema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (server) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	u := in.DeepCopyObject().(*unstructured.Unstructured)
	if u.GetName() == "stuck" {
		return nil, errors.New("it is stuck")
	}
	u.SetAPIVersion(to.(gvkschema.GroupVersion).String())
	return u, nil
}

func (server) Default(runtime.Object) {}

func (s server) New(gvkschema.GroupVersionKind) (runtime.Object, error) {
	if s.broken {
		return nil, errors.New("it is broken")
	}
	return &unstructured.Unstructured{}, nil
}

// both returns apimachinery's field manager of Gizmo and deed's.
func both(t *testing.T, s server) (theirs, ours fieldManager) {
	t.Helper()
	text := spec.StringProperty()
	types, err := apimachinery.NewTypeConverter(map[string]*spec.Schema{"Gizmo": {
		VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-group-version-kind": []any{
			map[string]any{"group": gizmo.Group, "version": gizmo.Version, "kind": gizmo.Kind},
		}}},
		SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
			"apiVersion": *text, "kind": *text, "color": *text, "size": *text,
			"metadata": {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, AdditionalProperties: &spec.SchemaOrBool{Allows: true}},
				VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-preserve-unknown-fields": true}}},
		}},
	}}, false)
	if err != nil {
		t.Fatal(err)
	}
	hub := gizmo.GroupVersion()
	if theirs, err = apimachinery.NewDefaultFieldManager(types, s, s, s, gizmo, hub, "", nil); err != nil {
		t.Fatal(err)
	}
	if ours, err = kube.NewDefaultFieldManager(types, s, s, s, gizmo, hub, "", nil); err != nil {
		t.Fatal(err)
	}
	return theirs, ours
}

// answer returns an object without times, or the error.
func answer(o runtime.Object, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	u := o.DeepCopyObject().(*unstructured.Unstructured)
	entries := u.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	u.SetManagedFields(entries)
	text, err := json.Marshal(u)
	return fmt.Sprint(string(text), err)
}

// TestOddRequests compares the answers to requests that converters refuse, and to managed fields that clients made up.
func TestOddRequests(t *testing.T) {
	object := func(name, kind string, entries ...string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		text := `{"apiVersion":"example.org/v1","kind":"` + kind + `","metadata":{"name":"` + name + `","uid":"u"},"color":"` + name + `"}`
		if entries != nil {
			text = strings.Replace(text, `"uid":"u"`, `"uid":"u","managedFields":[`+strings.Join(entries, ",")+`]`, 1)
		}
		if err := json.Unmarshal([]byte(text), u); err != nil {
			t.Fatal(err)
		}
		return u
	}
	entry := func(apiVersion, operation, field string) string {
		return `{"manager":"x","operation":"` + operation + `","apiVersion":"` + apiVersion + `","fieldsType":"FieldsV1","fieldsV1":{"f:` + field + `":{}}}`
	}
	owned, internal := entry("example.org/v1", "Update", "color"), entry("example.org/__internal", "Update", "size")
	lives := map[string]*unstructured.Unstructured{
		"untracked": object("a", "Gizmo"), "stuck": object("stuck", "Gizmo"), "stuck and tracked": object("stuck", "Gizmo", owned),
		"tracked": object("a", "Gizmo", owned), "internal": object("a", "Gizmo", owned, internal),
		"invalid": object("a", "Gizmo", entry("example.org/v1", "Patch", "color")),
	}
	sent := map[string]runtime.Object{
		"plain": object("b", "Gizmo"), "stuck": object("stuck", "Gizmo"), "reset": object("stuck", "Gizmo", []string{}...),
		"empty list": object("stuck", "Gizmo", ""), "empty entry": object("stuck", "Gizmo", "{}"), "other kind": object("b", "Gadget"),
	}
	for _, s := range []server{{}, {broken: true}} {
		for name, live := range lives {
			for what, o := range sent {
				if s.broken && live.GetName() == "stuck" || name == "invalid" && what == "stuck" {
					continue // of two defects, either may be named
				}
				theirs, ours := both(t, s)
				play := func(m fieldManager) string {
					config := o.DeepCopyObject().(*unstructured.Unstructured)
					config.SetManagedFields(nil)
					applied := answer(m.Apply(live.DeepCopy(), config, "me", false))
					if what == "other kind" {
						return applied // their message about an update prints pointers
					}
					return applied + "\n" + answer(m.Update(live.DeepCopy(), o.DeepCopyObject(), "me"))
				}
				if want, got := play(theirs), play(ours); got != want {
					t.Errorf("%s, %s, broken %v: got\n%s\nwant\n%s", name, what, s.broken, got, want)
				}
			}
		}
	}
	theirs, ours := both(t, server{})
	noMetadata := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "example.org/v1", Kind: "Gizmo"}}
	_, want := theirs.Apply(object("a", "Gizmo"), noMetadata, "me", false)
	if _, err := ours.Apply(object("a", "Gizmo"), noMetadata, "me", false); err == nil || err.Error() != want.Error() {
		t.Errorf("a configuration without metadata: %v, want %v", err, want)
	}
}

// versionTypes counts the types that it returns. It has one for each version.
type versionTypes struct {
	kube.TypeConverter
	asked map[string]int
}

func (v versionTypes) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	v.asked[o.GetObjectKind().GroupVersionKind().Version]++
	return v.TypeConverter.ObjectToTyped(o, opts...)
}

// TestManyVersions updates objects with entries of many versions, which clients can make up. The field manager forgets versions, but never
// those of the object that it updates.
func TestManyVersions(t *testing.T) {
	types := versionTypes{kube.NewDeducedTypeConverter(), map[string]int{}}
	m, err := kube.NewDefaultCRDFieldManager(types, server{}, server{}, server{}, gizmo, gizmo.GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	update := func(versions ...int) {
		t.Helper()
		live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.org/v1", "kind": "Gizmo", "metadata": map[string]any{"name": "a"}}}
		var entries []metav1.ManagedFieldsEntry
		for _, i := range versions {
			entries = append(entries, metav1.ManagedFieldsEntry{
				Manager: fmt.Sprint("writer", i), Operation: "Apply", APIVersion: fmt.Sprint("example.org/v", i), FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:size":{}}`),
			})
		}
		live.SetManagedFields(entries)
		out, err := m.Update(live, live.DeepCopy(), "me")
		if err != nil || len(out.(*unstructured.Unstructured).GetManagedFields()) != len(entries) {
			t.Fatalf("%v: %v, %v", versions, out, err)
		}
	}
	const many = 100
	all := make([]int, many)
	for i := range many {
		all[i] = i + 3
		update(i+3, 2)
	}
	update(all...)
	update(2, 3)
	if n := types.asked["v2"]; n > 10 {
		t.Errorf("the type of a version in use is asked for %d times", n)
	}
	if n := types.asked["v3"]; n < 2 {
		t.Error("no version is forgotten")
	}
}
