// Package policies has what is particular to admission policies and their bindings: which resources they are, and where their parameters are
// found.
package policies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission/policy"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Group is the group of policies and bindings.
const Group = "admissionregistration.k8s.io"

// Resources lists the resources of policies and bindings.
var Resources = []string{
	"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
}

// Is reports whether a resource has policies or bindings.
func Is(group, resource string) bool { return group == Group && slices.Contains(Resources, resource) }

// Params finds parameters in the store.
type Params struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
}

// Of returns the parameters of a kind, or nil if the kind is not served.
func (p Params) Of(kind kschema.GroupVersionKind) policy.Params {
	for r := range p.Catalog().All() {
		if r.Group != kind.Group || r.Kind != kind.Kind || r.Virtual {
			continue
		}
		if v := r.Version(kind.Version); v != nil {
			return params{p.Store, v}
		}
	}
	return nil
}

// params are the stored objects of a resource, in one version.
type params struct {
	store   store.Store
	version *catalog.Version
}

// Namespaced reports whether the objects are in namespaces.
func (p params) Namespaced() bool { return p.version.Namespaced }

// New returns a pointer to an empty object of the Go type, nil if a definition defines the kind.
func (p params) New() any {
	if p.version.New == nil {
		return nil
	}
	return p.version.New()
}

// Get returns an object, absent if it does not exist.
func (p params) Get(ctx context.Context, namespace, name string) (value.Value, error) {
	record, err := p.store.Get(ctx, p.version.Key(namespace, name), 0)
	if errors.Is(err, store.ErrNotFound) {
		return value.Value{}, nil
	}
	if err != nil {
		return value.Value{}, err
	}
	return p.read(record)
}

// List returns the objects in a namespace, or all of a resource that has no namespaces.
func (p params) List(ctx context.Context, namespace string) ([]value.Value, error) {
	page, err := p.store.Range(ctx, store.Range{Prefix: p.version.KeyPrefix(namespace)})
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, 0, len(page.Records))
	for _, record := range page.Records {
		object, err := p.read(record)
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	return out, nil
}

// read returns an object as policies see it. kube-apiserver keeps the managed fields of custom resources only.
func (p params) read(record store.Record) (value.Value, error) {
	object, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return value.Value{}, fmt.Errorf("%s: %w", record.Key, err)
	}
	content, err := catalog.Load(p.version.Form, object)
	if err != nil {
		return value.Value{}, fmt.Errorf("%s: %w", record.Key, err)
	}
	content = content.With("metadata", content.Get("metadata").With("resourceVersion", value.String(strconv.FormatInt(int64(record.Revision), 10))))
	if !p.version.Custom {
		return content, nil
	}
	return managedfields.Object{Content: content, Entries: object.Entries}.Value()
}
