package kube_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema/builtin"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
"spec":{"group":"example.org","names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string","default":"blue"}}},
"status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}}]}}`

const gadgets = `{"openapi":"3.0.0","components":{"schemas":{"Gadget":{"type":"object",
"x-kubernetes-group-version-kind":[{"group":"example.org","version":"v1","kind":"Gadget"}],
"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"size":{"type":"integer"},"color":{"type":"string"}}}}}}`

// Gadget is a kind of an aggregated API server.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Size              int32  `json:"size"`
	Color             string `json:"color,omitempty"`
}

func (g *Gadget) DeepCopyObject() runtime.Object { out := *g; return &out }

func newRegistry(t *testing.T) *kube.Registry {
	t.Helper()
	scheme := runtime.NewScheme()
	gv := gvkschema.GroupVersion{Group: "example.org", Version: "v1"}
	scheme.AddKnownTypes(gv, &Gadget{})
	scheme.AddTypeDefaultingFunc(&Gadget{}, func(v any) {
		if g := v.(*Gadget); g.Color == "" {
			g.Color = "green"
		}
	})
	r, err := kube.NewRegistry(kube.Sources{Definitions: []any{[]byte(widgets)}, OpenAPIV3: [][]byte{[]byte(gadgets)}, Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRegistry applies to a kind of each source: defaults, forms and reset fields are those of the source.
func TestRegistry(t *testing.T) {
	r := newRegistry(t)
	for name, c := range map[string]struct {
		config      any
		subresource string
		want        string // the object without managed fields
		owned       string
	}{
		"built in": {
			map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"k": "v"}}, "",
			`{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}`, `{"f:data":{"f:k":{}}}`,
		},
		"defined": {
			[]byte(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1},"status":{"ready":true}}`), "",
			`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"generation":1,"name":"a"},"spec":{"color":"blue","size":1}}`,
			`{"f:spec":{"f:size":{}}}`,
		},
		"status": {
			[]byte(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1},"status":{"ready":true}}`), "status",
			`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"generation":1,"name":"a"},"spec":{"color":"blue","size":1},"status":{"ready":true}}`,
			`{"f:status":{"f:ready":{}}}`,
		},
		"typed, without kind": {
			&Gadget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Size: 2}, "",
			`{"apiVersion":"example.org/v1","color":"green","kind":"Gadget","metadata":{"name":"a"},"size":2}`, `{"f:size":{}}`,
		},
	} {
		out, err := r.Apply(nil, c.config, kube.WriteOptions{Manager: "me", Subresource: c.subresource})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(out.Object.Content.AppendJSON(nil)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if len(out.Object.Entries) != 1 || out.Object.Entries[0].FieldsV1.String() != c.owned {
			t.Errorf("%s: %v owns, want %s", name, out.Object.Entries, c.owned)
		}
		if !out.Content || !out.Ownership {
			t.Errorf("%s: a new object is no change", name)
		}
		u := &unstructured.Unstructured{}
		if err := out.Into(u); err != nil {
			t.Fatal(err)
		}
		again, err := r.Apply(u, c.config, kube.WriteOptions{Manager: "me", Subresource: c.subresource})
		if err != nil || again.Content || again.Ownership {
			t.Errorf("%s: the same apply changes %+v, %v", name, again, err)
		}
		other, err := r.Apply(u, c.config, kube.WriteOptions{Manager: "other", Subresource: c.subresource})
		if err != nil || other.Content || !other.Ownership {
			t.Errorf("%s: a co-owner changes %+v, %v", name, other, err)
		}
	}
}

func TestRegistryErrors(t *testing.T) {
	r := newRegistry(t)
	config := func(size int) map[string]any {
		return map[string]any{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"size": size}}
	}
	live, err := r.Apply(nil, config(1), kube.WriteOptions{Manager: "one"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Apply(live.Object, config(2), kube.WriteOptions{Manager: "two"})
	if causes := metav1.CauseTypeFieldManagerConflict; !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, causes) {
		t.Errorf("a conflict is %#v", err)
	}
	if out, err := r.Apply(live.Object, config(2), kube.WriteOptions{Manager: "two", Force: true}); err != nil || !out.Content {
		t.Errorf("forced: %+v, %v", out, err)
	}
	_, err = r.Apply(nil, map[string]any{"apiVersion": "example.org/v1", "kind": "Widget", "spec": 7}, kube.WriteOptions{Manager: "one"})
	if !apierrors.IsInternalError(err) && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown || err == nil {
		t.Errorf("an object of another form is %v", err)
	}
	var unserved *builtin.UnservedError
	for _, object := range []any{nil, map[string]any{"apiVersion": "example.org/v2", "kind": "Widget"}, map[string]any{"apiVersion": "v1", "kind": "Nothing"}} {
		if _, err := r.Apply(nil, object, kube.WriteOptions{Manager: "one"}); !errors.As(err, &unserved) {
			t.Errorf("%v: %v", object, err)
		}
	}
	if _, err := kube.NewRegistry(kube.Sources{Definitions: []any{map[string]any{"kind": "Pod"}, 7}, OpenAPIV3: [][]byte{{'{'}}}); err == nil {
		t.Error("sources that are none are taken")
	}
}

// TestLenient applies objects with fields that no schema has.
func TestLenient(t *testing.T) {
	r := newRegistry(t)
	for name, c := range map[string]struct{ first, second, want string }{
		"a built-in kind": {
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"fresh":{"x":1,"y":2},"strategy":{"new":true}}}`,
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"fresh":{"x":3}}}`,
			`{"fresh":{"x":3},"progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,"selector":null,"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},` +
				`"template":{"metadata":{},"spec":{"containers":null,"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}`,
		},
		"a kind that no source has": {
			`{"apiVersion":"example.org/v9","kind":"Gizmo","spec":{"a":1,"b":[1]}}`, `{"apiVersion":"example.org/v9","kind":"Gizmo","spec":{"b":[2]}}`, `{"b":[2]}`,
		},
		"a built-in kind without a schema": {
			`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"a":1,"b":[1]}}`,
			`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"b":[2]}}`, `{"b":[2]}`,
		},
		"a kind of a subresource": {
			`{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"a":1,"b":[1]}}`, `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"b":[2]}}`, `{"b":[2]}`,
		},
		"a version that is not served any more": {
			`{"apiVersion":"apps/v1beta1","kind":"Deployment","spec":{"replicas":2,"fresh":1}}`, `{"apiVersion":"apps/v1beta1","kind":"Deployment","spec":{"fresh":2}}`, "",
		},
	} {
		first, err := kube.ObjectOf([]byte(c.first))
		if err != nil {
			t.Fatal(err)
		}
		second, err := kube.ObjectOf([]byte(c.second))
		if err != nil {
			t.Fatal(err)
		}
		to, err := r.Lenient(gvkschema.GroupVersionKind(first.GVK()), "")
		if err != nil {
			t.Fatal(err)
		}
		live, err := to.Manager.Apply(managedfields.Object{}, first, "me", false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := to.Manager.Apply(live, second, "me", false)
		if got := out.Content.Get("spec").String(); err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
		if _, err := to.Manager.Apply(out, first, "other", false); !errors.As(err, new(merge.Conflicts)) {
			t.Errorf("%s: no conflict but %v", name, err)
		}
	}
}
