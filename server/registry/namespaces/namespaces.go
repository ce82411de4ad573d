// Package namespaces has what namespaces do that other kinds do not: their deletion, the admission plugin NamespaceLifecycle, and the
// namespaces that every server has.
package namespaces

import (
	"context"
	stderrors "errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// System lists the namespaces that exist from the start.
var System = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// immortal lists the namespaces that cannot be deleted.
var immortal = []string{"default", "kube-public", "kube-system"}

// New returns a namespace as a client creates it.
//
// What the server adds, such as the phase, is not in it.
func New(name string) value.Value {
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "kind", Value: value.String("Namespace")},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
	)
}

// Resource is the resource namespaces.
var Resource = kschema.GroupResource{Resource: "namespaces"}

// Lifecycle is the admission plugin NamespaceLifecycle: it refuses objects in a namespace that does not exist or is being deleted, and the
// deletion of some namespaces.
//
// kube-apiserver reads namespaces from a cache, and waits for it if a namespace is missing. Here each creation reads the store, so there is
// nothing to wait for.
type Lifecycle struct{ Store store.Store }

// Admit refuses a request with 403 or 404, or with 500 if no namespace can have the name.
func (l Lifecycle) Admit(ctx context.Context, r *admission.Request) error {
	resource := r.Resource.GroupResource()
	if r.Operation == admission.Delete && resource == Resource && slices.Contains(immortal, r.Name) {
		return errors.NewForbidden(Resource, r.Name, stderrors.New("this namespace may not be deleted"))
	}
	// Updates and deletions in a namespace that is being deleted are allowed: they are how it becomes empty.
	if r.Operation != admission.Create || r.Namespace == "" || resource == Resource {
		return nil
	}
	name := r.Namespace
	if why := content.IsPathSegmentName(name); len(why) > 0 {
		return errors.NewInternalError(fmt.Errorf("invalid resource name %q: %v", name, why))
	}
	record, err := l.Store.Get(ctx, "/registry/namespaces/"+name, 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return errors.NewNotFound(Resource, name)
	}
	if err != nil {
		return err
	}
	if !registry.MayBeTerminating(record.Text) {
		return nil
	}
	namespace, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	if !registry.IsTerminating(namespace.Content) {
		return nil
	}
	forbidden := errors.NewForbidden(resource, r.ObjectName(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace",
	})
	return forbidden
}
