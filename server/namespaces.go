package server

import (
	"bytes"
	"context"
	stderrors "errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// systemNamespaces exist from the beginning.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// immortalNamespaces cannot be deleted.
var immortalNamespaces = []string{"default", "kube-public", "kube-system"}

func newNamespace(name string) value.Value {
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "kind", Value: value.String("Namespace")},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
	)
}

var namespaces = kschema.GroupResource{Resource: "namespaces"}

// lifecycle is the life of namespaces: nothing is created in one that is not there or is being deleted, and some cannot be
// deleted. It is the first plugin of admission.
func (s *Server) lifecycle(ctx context.Context, r *admission.Request) error {
	resource := r.Resource.GroupResource()
	if r.Operation == admission.Delete && resource == namespaces && slices.Contains(immortalNamespaces, r.Name) {
		return errors.NewForbidden(namespaces, r.Name, stderrors.New("this namespace may not be deleted"))
	}
	if r.Operation != admission.Create || r.Namespace == "" || resource == namespaces {
		return nil
	}
	name := r.Namespace
	record, err := s.backend.Store.Get(ctx, "/registry/namespaces/"+name, 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return errors.NewNotFound(namespaces, name)
	}
	if err != nil {
		return err
	}
	if !mayBeDeleted(record.Text) {
		return nil
	}
	namespace, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	if namespace.Content.Get("metadata", "deletionTimestamp").IsAbsent() {
		return nil
	}
	forbidden := errors.NewForbidden(resource, nameOf(r),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace",
	})
	return forbidden
}

// nameOf returns what a refusal calls the object of a request.
func nameOf(r *admission.Request) string {
	if r.Name != "" {
		return r.Name
	}
	if prefix := r.Object.Content().Get("metadata", "generateName").Str(); prefix != "" {
		return prefix
	}
	return "Unknown"
}

// mayBeDeleted reports whether the text of an object has what those have that are being deleted; perhaps in another place.
func mayBeDeleted(text []byte) bool { return bytes.Contains(text, []byte(`"deletionTimestamp"`)) }
