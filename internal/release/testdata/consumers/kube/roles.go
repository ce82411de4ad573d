// Package kube has the programs of docs/library.md, in a module that requires deed as others do.
package kube

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"

	managedfields "github.com/deed-project/deed/kube" // the only line that a caller of apimachinery changes
	"github.com/deed-project/deed/kube/csa"
	"github.com/deed-project/deed/kube/gitops"
)

// applyAsServer applies config as an API server does that has its own scheme.
func applyAsServer(
	types managedfields.TypeConverter, scheme *runtime.Scheme, gvk schema.GroupVersionKind, live, config runtime.Object,
) (runtime.Object, error) {
	manager, err := managedfields.NewDefaultFieldManager(types, scheme, scheme, scheme, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		return nil, err
	}
	return manager.Apply(live, config, "me", false)
}

// reconcile says what a controller has to do about an object.
func reconcile(registry *managedfields.Registry, live, config any) string {
	out, err := registry.Apply(live, config, managedfields.WriteOptions{Manager: "my-controller"})
	switch {
	case errors.IsConflict(err):
		return "conflict: " + err.Error()
	case err != nil:
		return err.Error()
	case !out.Content && !out.Ownership:
		return "spare the request"
	}
	return "send the request"
}

// drift prints what an apply would change in a cluster that the client may only read.
func drift(ctx context.Context, client kubernetes.Interface, desired any, rules *gitops.Rules) (string, error) {
	cluster := gitops.NewCluster(func(ctx context.Context, path string) ([]byte, error) {
		return client.Discovery().RESTClient().Get().RequestURI(path).Do(ctx).Raw()
	})
	result, err := cluster.Diff(ctx, desired, gitops.Options{Manager: "argocd-controller", Ignore: rules})
	if err != nil {
		return "", err
	}
	return result.String(), nil
}

// upgrade returns the patch that gives what kubectl owns by client-side apply to an applier, and what its next apply then removes.
func upgrade(live runtime.Object, config any) (patch []byte, removed []string, err error) {
	from := sets.New("kubectl-client-side-apply")
	preview, err := csa.Preview(live, config, nil, from, "argocd-controller")
	if err != nil {
		return nil, nil, err
	}
	for _, leftover := range preview.Removed {
		removed = append(removed, fmt.Sprint(leftover.Path))
	}
	patch, err = csa.UpgradeManagedFieldsPatch(live, from, "argocd-controller")
	return patch, removed, err
}
