package server

import (
	"context"
	stderrors "errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/rest"
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

// admit is the life of namespaces: nothing is created in one that is not there or is being deleted, and some cannot be deleted.
func (s *Server) admit(ctx context.Context, r *rest.Request, verb string) error {
	if verb == "delete" {
		if r.Version.GroupResource() == namespaces && slices.Contains(immortalNamespaces, r.Name()) {
			return errors.NewForbidden(namespaces, r.Name(), stderrors.New("this namespace may not be deleted"))
		}
		return nil
	}
	if !r.Version.Namespaced {
		return nil
	}
	name := r.Target.Namespace
	record, err := s.backend.Store.Get(ctx, "/registry/namespaces/"+name, 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return errors.NewNotFound(namespaces, name)
	}
	if err != nil {
		return err
	}
	namespace, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	if namespace.Content.At("metadata", "deletionTimestamp").IsAbsent() {
		return nil
	}
	forbidden := errors.NewForbidden(r.Version.GroupResource(), r.Name(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace",
	})
	return forbidden
}
