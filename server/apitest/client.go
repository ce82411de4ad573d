package apitest

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewClient returns a client of a new server that ends with the test, in the place of those that fake.NewClientBuilder of controller-runtime
// makes: the objects exist when it returns. The server serves the kinds of the scheme, see [Types]; a kind with an object that has no
// namespace belongs to none. Unlike a fake, the server validates, fills in defaults, and tracks who owns which field.
//
// The objects are created in their order, with their status, in namespaces that are made for them. One with a deletionTimestamp is deleted
// afterwards, so that it waits for its finalizers. The objects of the caller are not changed. For interceptors, wrap the client by
// interceptor.NewClient. For the definitions of a project, make a client of the [Server.RESTConfig] of a server that loads them.
func NewClient(tb testing.TB, scheme *runtime.Scheme, objects ...client.Object) client.WithWatch {
	tb.Helper()
	var clusterScoped []string
	for _, o := range objects {
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			tb.Fatal(err)
		}
		if o.GetNamespace() == "" {
			clusterScoped = append(clusterScoped, gvk.GroupKind().String())
		}
	}
	c, err := client.NewWithWatch(Start(tb, Types(scheme, clusterScoped...)).RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatal(err)
	}
	for _, o := range objects {
		if err := createWhole(tb.Context(), c, o); err != nil {
			tb.Fatalf("%T %s: %v", o, client.ObjectKeyFromObject(o), err)
		}
	}
	return c
}

// createWhole creates a copy of an object with its status, and its namespace before that. It deletes the copy if the object is being deleted.
func createWhole(ctx context.Context, c client.WithWatch, object client.Object) error {
	isDeleted := object.GetDeletionTimestamp() != nil
	if isDeleted && len(object.GetFinalizers()) == 0 {
		return errors.New("it has a deletionTimestamp and no finalizers, so it would be gone")
	}
	if name := object.GetNamespace(); name != "" {
		if err := ensureNamespace(ctx, c, name); err != nil {
			return err
		}
	}
	made := object.DeepCopyObject().(client.Object)
	made.SetResourceVersion("")
	made.SetDeletionTimestamp(nil)
	if err := c.Create(ctx, made); err != nil {
		return err
	}
	if err := writeStatus(ctx, c, object, made.GetResourceVersion()); err != nil {
		return err
	}
	if isDeleted {
		return c.Delete(ctx, made)
	}
	return nil
}

// ensureNamespace creates a namespace unless it exists.
func ensureNamespace(ctx context.Context, c client.WithWatch, name string) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(kubeschema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	namespace.SetName(name)
	if err := c.Create(ctx, namespace); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// writeStatus writes the status of an object, which create leaves out where it is a subresource.
func writeStatus(ctx context.Context, c client.WithWatch, object client.Object, version string) error {
	whole, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil || whole["status"] == nil {
		return err
	}
	withStatus := object.DeepCopyObject().(client.Object)
	withStatus.SetDeletionTimestamp(nil)
	withStatus.SetResourceVersion(version)
	err = c.Status().Update(ctx, withStatus)
	if apierrors.IsNotFound(err) { // the kind has no such subresource, and the status is there
		return nil
	}
	return err
}
