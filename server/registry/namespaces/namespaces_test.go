package namespaces_test

import (
	"errors"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/store/memory"
)

// TestLifecycle admits objects in namespaces that live, and none in others.
func TestLifecycle(t *testing.T) {
	s := memory.New()
	defer s.Close()
	for name, text := range map[string]string{
		"live":  `{"metadata":{"name":"live"}}`,
		"named": `{"metadata":{"annotations":{"deletionTimestamp":"x"},"name":"named"}}`,
		"dying": `{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z","name":"dying"}}`,
	} {
		if _, err := s.Put(t.Context(), "/registry/namespaces/"+name, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		operation                 admission.Operation
		resource, namespace, name string
		want                      string
	}{
		{admission.Create, "pods", "live", "x", ""},
		{admission.Create, "pods", "named", "x", ""},
		{admission.Create, "pods", "gone", "x", `namespaces "gone" not found`},
		{admission.Create, "pods", "dying", "x", `pods "x" is forbidden: unable to create new content in namespace dying because it is being terminated`},
		{admission.Update, "pods", "dying", "x", ""},
		{admission.Delete, "pods", "gone", "x", ""},
		{admission.Delete, "pods", "live", "default", ""},
		{admission.Create, "nodes", "", "x", ""},
		{admission.Create, "namespaces", "gone", "gone", ""},
		{admission.Delete, "namespaces", "", "live", ""},
		{admission.Delete, "namespaces", "", "kube-node-lease", ""},
		{admission.Delete, "namespaces", "", "default", `namespaces "default" is forbidden: this namespace may not be deleted`},
		{admission.Delete, "namespaces", "", "kube-public", `namespaces "kube-public" is forbidden: this namespace may not be deleted`},
		{admission.Delete, "namespaces", "", "kube-system", `namespaces "kube-system" is forbidden: this namespace may not be deleted`},
		{admission.Update, "namespaces", "", "default", ""},
	} {
		r := &admission.Request{Operation: c.operation, Namespace: c.namespace, Name: c.name}
		r.Resource = kschema.GroupVersionResource{Version: "v1", Resource: c.resource}
		err := namespaces.Lifecycle{Store: s}.Admit(t.Context(), r)
		if got := text(err); got != c.want {
			t.Errorf("%s %s/%s in %q: %q, want %q", c.operation, c.resource, c.name, c.namespace, got, c.want)
		}
		if c.namespace == "dying" && err != nil && !kerrors.HasStatusCause(err, "NamespaceTerminating") {
			t.Errorf("the refusal in a namespace that is deleted has no cause: %#v", err)
		}
	}
	s.Close()
	r := &admission.Request{Operation: admission.Create, Namespace: "live"}
	r.Resource.Resource = "pods"
	if err := (namespaces.Lifecycle{Store: s}).Admit(t.Context(), r); err == nil || kerrors.IsNotFound(err) {
		t.Errorf("when the store fails: %v", err)
	}
}

func text(err error) string {
	if status := (*kerrors.StatusError)(nil); errors.As(err, &status) {
		return status.ErrStatus.Message
	}
	if err != nil {
		return "no Status: " + err.Error()
	}
	return ""
}

// TestNew makes a namespace.
func TestNew(t *testing.T) {
	if got := namespaces.New("a").String(); got != `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}` {
		t.Errorf("it is %s", got)
	}
}
