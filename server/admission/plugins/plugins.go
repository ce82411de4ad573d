// Package plugins has admission plugins of kube-apiserver, each in a file of its name:
//
//	[Ranges]            LimitRanger
//	[Accounts]          ServiceAccount
//	[Nodes]             NodeRestriction
//	[StorageClasses]    DefaultStorageClass, PersistentVolumeClaimResize
//	[IngressClasses]    DefaultIngressClass
//	[RuntimeClasses]    RuntimeClass
//	[Signers]           CertificateApproval, CertificateSigning, ClusterTrustBundleAttest
//	[RestrictSubjects]  CertificateSubjectRestriction
//	[Topology]          PodTopologyLabels
//	[NodeFeatures]      NodeDeclaredFeatureValidator
//	[Resizes]           PodResizeValidator
//
// They read other objects from the store for each request, so that an object counts from the moment it is written.
package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Resources that plugins are about.
var (
	pods      = kschema.GroupResource{Resource: "pods"}
	claims    = kschema.GroupResource{Resource: "persistentvolumeclaims"}
	ingresses = kschema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}
	requests  = kschema.GroupResource{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}
)

// Prefixes of the keys of objects that plugins read.
const (
	rangesPrefix         = "/registry/limitranges/"
	accountsPrefix       = "/registry/serviceaccounts/"
	storageClassesPrefix = "/registry/storageclasses/"
	ingressClassesPrefix = "/registry/ingressclasses/"
	runtimeClassesPrefix = "/registry/runtimeclasses/"
)

// isFor reports whether a request is about an object of a resource itself, and has one of the operations.
func isFor(r *admission.Request, resource kschema.GroupResource, operations ...admission.Operation) bool {
	return r.Resource.GroupResource() == resource && r.Subresource == "" && slices.Contains(operations, r.Operation)
}

// forbid refuses a request.
func forbid(r *admission.Request, err error) error {
	return apierrors.NewForbidden(r.Resource.GroupResource(), r.ObjectName(), err)
}

// Listed returns the objects whose keys begin with a prefix.
func Listed(ctx context.Context, s store.Store, prefix string) ([]value.Value, error) {
	page, err := s.Range(ctx, store.Range{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, record := range page.Records {
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, object.Content)
	}
	return out, nil
}

// defaultClass returns the name of the class that an annotation marks as the default; "" for none. Of several, the newest counts, and then
// the first by name.
func defaultClass(ctx context.Context, s store.Store, prefix string, annotations ...string) (string, error) {
	classes, err := Listed(ctx, s, prefix)
	if err != nil {
		return "", err
	}
	classes = slices.DeleteFunc(classes, func(c value.Value) bool {
		return !slices.ContainsFunc(annotations, func(name string) bool { return c.Get("metadata", "annotations").Get(name).Str() == "true" })
	})
	if len(classes) == 0 {
		return "", nil
	}
	first := slices.MinFunc(classes, func(a, b value.Value) int {
		a, b = a.Get("metadata"), b.Get("metadata")
		created := cmp.Compare(b.Get("creationTimestamp").Str(), a.Get("creationTimestamp").Str())
		return cmp.Or(created, cmp.Compare(a.Get("name").Str(), b.Get("name").Str()))
	})
	return first.Get("metadata", "name").Str(), nil
}

// withSpec replaces a member of the spec of the object of a request.
func withSpec(r *admission.Request, name string, to value.Value) {
	object := r.Object.Content()
	r.Object = r.Object.With(object.With("spec", object.Get("spec").With(name, to)))
}

// isSet reports whether a field has a value other than null.
func isSet(v value.Value) bool { return !v.IsAbsent() && !v.IsNull() }

// unfit returns why the client of a plugin of kube-apiserver does not ask for an object with a name, nil if it does.
func unfit(name string) error {
	if name == "" {
		return errors.New("resource name may not be empty")
	}
	if wrong := content.IsPathSegmentName(name); len(wrong) > 0 {
		return fmt.Errorf("invalid resource name %q: %v", name, wrong)
	}
	return nil
}

// object returns the object with a key, absent if there is none.
func object(ctx context.Context, s store.Store, key string) (value.Value, error) {
	return registry.Object(ctx, s, key)
}
