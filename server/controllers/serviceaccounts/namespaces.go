// Package serviceaccounts has the controllers of kube-controller-manager for service accounts:
//
//	[Accounts]  gives each namespace the account default
//	[RootCA]    gives each namespace the certificates by which pods verify the API server
//	[Tokens]    fills in Secrets with tokens of accounts, and deletes them with their accounts
//
// [Tracking] is a controller of kube-apiserver itself.
package serviceaccounts

import (
	"context"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Host is what the controllers need of a server.
type Host struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Client  *loopback.Client
	Report  func(what string, err error)
}

// fieldManager is the field manager of what the controllers write.
const fieldManager = "?fieldManager=kube-controller-manager"

// resource returns a resource of the core group.
func (h Host) resource(plural string) *catalog.Resource { return h.Catalog().Lookup("", plural) }

// object returns a stored object of the core group, absent if there is none.
func (h Host) object(ctx context.Context, plural, namespace, name string) (value.Value, error) {
	return registry.Object(ctx, h.Store, h.resource(plural).Key(namespace, name))
}

// path returns the path of a collection in a namespace.
func path(plural, namespace string) string { return "/api/v1/namespaces/" + namespace + "/" + plural }

// isActive reports whether a namespace exists and is not being deleted.
func (h Host) isActive(ctx context.Context, name string) (bool, error) {
	namespace, err := h.object(ctx, "namespaces", "", name)
	return namespace.Get("status", "phase").Str() == "Active" && !registry.IsTerminating(namespace), err
}

// create creates an object. It is no error that the object exists, or that the namespace goes.
func (h Host) create(ctx context.Context, plural, namespace string, object value.Value) error {
	err := h.Client.Send(ctx, http.MethodPost, path(plural, namespace)+fieldManager, object)
	if errors.IsAlreadyExists(err) || errors.IsNotFound(err) || errors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// perNamespace returns a controller that works on namespaces: when one is written, and when one of its objects of a resource changes for
// which isDue returns true.
func (h Host) perNamespace(name, plural string, isDue func(e store.Event, object string) bool, work func(context.Context, string) error) *queue.Controller[string] {
	namespaces, objects := h.resource("namespaces").Prefix, h.resource(plural).Prefix
	return &queue.Controller[string]{Name: name, Store: h.Store, Report: h.Report, Work: work, Sources: []queue.Source[string]{
		{Prefix: namespaces, Items: func(e store.Event) []string {
			if e.Deleted {
				return nil
			}
			return []string{strings.TrimPrefix(e.Key, namespaces)}
		}},
		{Prefix: objects, Items: func(e store.Event) []string {
			namespace, object, _ := strings.Cut(strings.TrimPrefix(e.Key, objects), "/")
			if !isDue(e, object) {
				return nil
			}
			return []string{namespace}
		}},
	}}
}

// Accounts keeps the service account default in each namespace.
type Accounts struct{ Host }

// defaultAccount is the account of pods that name none.
const defaultAccount = "default"

// Run keeps the accounts until ctx ends. An account that is deleted comes again.
func (a Accounts) Run(ctx context.Context) {
	a.perNamespace("the service account controller", "serviceaccounts", func(e store.Event, name string) bool {
		return e.Deleted && name == defaultAccount
	}, a.work).Run(ctx)
}

// work creates the account of a namespace.
func (a Accounts) work(ctx context.Context, namespace string) error {
	if active, err := a.isActive(ctx, namespace); err != nil || !active {
		return err
	}
	account, err := a.object(ctx, "serviceaccounts", namespace, defaultAccount)
	if err != nil || !account.IsAbsent() {
		return err
	}
	return a.create(ctx, "serviceaccounts", namespace, named("ServiceAccount", defaultAccount))
}

// named returns an object of the core group with nothing but a name.
func named(kind, name string) value.Value {
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String("v1")}, value.Member{Name: "kind", Value: value.String(kind)},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
	)
}

// RootCA keeps the ConfigMap kube-root-ca.crt in each namespace.
type RootCA struct {
	Host
	Certificates []byte // of the API server's authority, in PEM
}

const (
	rootMap        = "kube-root-ca.crt"
	rootKey        = "ca.crt"
	descriptionKey = "kubernetes.io/description"
	// description is the text that kube-controller-manager writes.
	description = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal " +
		"service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Run keeps the ConfigMaps until ctx ends.
func (c RootCA) Run(ctx context.Context) {
	c.perNamespace("the root CA certificate publisher", "configmaps", func(_ store.Event, name string) bool { return name == rootMap }, c.work).Run(ctx)
}

// work creates the ConfigMap of a namespace, or mends it. A changed description stays.
func (c RootCA) work(ctx context.Context, namespace string) error {
	if active, err := c.isActive(ctx, namespace); err != nil || !active {
		return err
	}
	stored, err := c.object(ctx, "configmaps", namespace, rootMap)
	if err != nil {
		return err
	}
	data := value.Object(value.Member{Name: rootKey, Value: value.String(string(c.Certificates))})
	if stored.IsAbsent() {
		return c.create(ctx, "configmaps", namespace, described(named("ConfigMap", rootMap)).With("data", data))
	}
	if stored.Get("data").Equal(data) && stored.Get("metadata", "annotations", descriptionKey).Str() != "" {
		return nil
	}
	err = c.Client.Send(ctx, http.MethodPut, path("configmaps", namespace)+"/"+rootMap+fieldManager, described(stored).With("data", data))
	return loopback.IgnoreNotFound(err)
}

// described returns a ConfigMap with the description.
func described(configMap value.Value) value.Value {
	annotations := configMap.Get("metadata", "annotations")
	if annotations.IsAbsent() {
		annotations = value.Object()
	}
	return api.WithMetadata(configMap, "annotations", annotations.With(descriptionKey, value.String(description)))
}
