package kube

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Sources lists the sources in which a [Registry] finds kinds. If several have a kind, the first one counts in this order: Definitions,
// the built-in kinds of Kubernetes, which need no source, and OpenAPI documents.
type Sources struct {
	// Definitions are CustomResourceDefinitions of apiextensions.k8s.io/v1, each in a form that [ObjectOf] reads.
	Definitions []any
	// OpenAPIV3 are documents of an API server, one for each group and version: see [openapi.V3].
	OpenAPIV3 [][]byte
	// OpenAPIV2 is a swagger.json. It serves the kinds that OpenAPIV3 lacks: see [openapi.V2].
	OpenAPIV2 []byte
	// Scheme has the Go types, defaults and conversions of kinds from OpenAPI documents, such as those of an aggregated API server. A
	// kind that it lacks is served as unstructured, without defaults. Scheme also names the kind of a typed object without apiVersion and
	// kind. nil is a scheme without kinds.
	Scheme *runtime.Scheme
}

// Registry has the field manager of each kind and subresource. It makes a field manager at the first call that needs it, and keeps it. It
// is safe for concurrent use.
type Registry struct {
	scheme   *runtime.Scheme
	custom   map[gvkschema.GroupKind]customKind
	catalog  *schema.Catalog
	managers sync.Map // endpointKey → Endpoint
}

type endpointKey struct {
	gvk         gvkschema.GroupVersionKind
	subresource string
	lenient     bool
}

// Endpoint is the field manager of an endpoint with its configuration. The caller must not modify the maps of the configuration.
type Endpoint struct {
	Manager *managedfields.FieldManager
	Config  managedfields.Config
}

// NewRegistry returns the registry for sources. It reads all of them: some milliseconds for a definition, and more for a large OpenAPI
// document. The error joins the defects of all sources.
func NewRegistry(sources Sources) (*Registry, error) {
	r := &Registry{scheme: sources.Scheme, custom: map[gvkschema.GroupKind]customKind{}, catalog: schema.NewCatalog(nil)}
	var problems []error
	for i, definition := range sources.Definitions {
		if err := r.define(definition); err != nil {
			problems = append(problems, fmt.Errorf("definition %d: %w", i, err))
		}
	}
	add := func(d *openapi.Definitions, err error) {
		if err != nil {
			problems = append(problems, err)
			return
		}
		more, _ := d.Catalog() // defects show when a value meets them, as in Kubernetes
		r.catalog = r.catalog.Merge(more)
	}
	if sources.OpenAPIV2 != nil {
		add(openapi.V2(sources.OpenAPIV2))
	}
	if sources.OpenAPIV3 != nil {
		add(openapi.V3(sources.OpenAPIV3...))
	}
	return r, errors.Join(problems...)
}

// define adds the kind of a definition.
func (r *Registry) define(definition any) error {
	object, err := ObjectOf(definition)
	if err != nil {
		return err
	}
	crd := object.Content
	if !custom.IsDefinition(crd) {
		return fmt.Errorf("a %v is no CustomResourceDefinition", object.GVK())
	}
	definitions, err := openapi.CRD(crd)
	if err != nil {
		return err
	}
	catalog, _ := definitions.Catalog()
	kind := customKind{types: map[string]*schema.Type{}}
	if kind.schemas, err = structural.Versions(crd); err != nil {
		return err
	}
	var name gvkschema.GroupKind
	for gvk, t := range catalog.Kinds() {
		name = gvkschema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}
		kind.types[gvk.APIVersion()] = t
	}
	kind.status = custom.WithStatus(crd)
	kind.Kind = custom.NewKind(kind.types, kind.status)
	r.custom[name] = kind
	return nil
}

// Manager returns the field manager of an endpoint for kind gvk. An empty subresource is the endpoint of the objects themselves. The
// outcomes of a built-in kind are those of kube-apiserver v1.37, except for values that only a server can know: see
// [builtin.Kind.Config]. Custom resources are pruned, and keep the status and metadata that the endpoint does not write. The subresource
// scale writes objects of another kind: see [managedfields.ScaleEntries].
//
// The error is a [*builtin.UnservedError] if servers do not serve the version, or if no source has the kind.
func (r *Registry) Manager(gvk gvkschema.GroupVersionKind, subresource string) (*managedfields.FieldManager, error) {
	e, err := r.Endpoint(gvk, subresource)
	return e.Manager, err
}

// Endpoint is [Registry.Manager] with the configuration. It serves callers that need the types of the kind or change a detail.
func (r *Registry) Endpoint(gvk gvkschema.GroupVersionKind, subresource string) (Endpoint, error) {
	return r.endpoint(endpointKey{gvk, subresource, false}, r.config)
}

// endpoint returns the field manager for key. If there is none yet, it makes one with the result of config.
func (r *Registry) endpoint(
	key endpointKey, config func(gvkschema.GroupVersionKind, string) (managedfields.Config, error),
) (Endpoint, error) {
	if known, ok := r.managers.Load(key); ok {
		return known.(Endpoint), nil
	}
	c, err := config(key.gvk, key.subresource)
	if err != nil {
		return Endpoint{}, err
	}
	m, err := managedfields.New(c)
	if err != nil {
		return Endpoint{}, err
	}
	known, _ := r.managers.LoadOrStore(key, Endpoint{m, c})
	return known.(Endpoint), nil
}

// config returns the configuration of an endpoint from the first source that has the kind.
func (r *Registry) config(gvk gvkschema.GroupVersionKind, subresource string) (managedfields.Config, error) {
	if k, ok := r.custom[gvk.GroupKind()]; ok {
		if k.types[gvk.GroupVersion().String()] == nil {
			return managedfields.Config{}, &builtin.UnservedError{GVK: schema.GVK(gvk)}
		}
		return k.config(gvk, subresource), nil
	}
	if k, ok := builtin.Lookup(schema.GVK(gvk)); ok {
		return k.Config(subresource)
	}
	types := map[string]*schema.Type{}
	for other, t := range r.catalog.Kinds() {
		if other.Group == gvk.Group && other.Kind == gvk.Kind {
			types[other.APIVersion()] = t
		}
	}
	if types[gvk.GroupVersion().String()] == nil {
		return managedfields.Config{}, &builtin.UnservedError{GVK: schema.GVK(gvk)}
	}
	config := managedfields.Config{GVK: schema.GVK(gvk), Types: types, Subresource: subresource}
	if r.scheme == nil || !r.scheme.Recognizes(gvk) {
		return config, nil
	}
	return r.typed(config, gvk)
}

// typed returns config completed for a kind that a server holds as the Go type of the scheme.
func (r *Registry) typed(config managedfields.Config, gvk gvkschema.GroupVersionKind) (managedfields.Config, error) {
	through := goType{r.scheme, gvk}
	empty, err := through.held(config.Empty, func(runtime.Object) {})
	if err != nil {
		return config, err
	}
	config.Empty = empty.With("apiVersion", value.String(gvk.GroupVersion().String())).With("kind", value.String(gvk.Kind))
	config.Hold = func(v value.Value) (value.Value, error) { return through.held(v, r.scheme.Default) }
	config.Read = config.Hold
	config.Hub = gvk.GroupVersion().String()
	if first := r.scheme.PrioritizedVersionsForGroup(gvk.Group); len(first) > 0 {
		config.Hub = first[0].String()
	}
	config.Converter = schemeConverter{r.scheme}
	return config, nil
}

// goType is the Go type of a kind.
type goType struct {
	scheme *runtime.Scheme
	gvk    gvkschema.GroupVersionKind
}

// held returns v as the Go type holds it, after change has modified the Go object.
func (t goType) held(v value.Value, change func(runtime.Object)) (value.Value, error) {
	object, err := t.scheme.New(t.gvk)
	if err != nil {
		return v, err
	}
	if err := structs.Into(v, object); err != nil {
		return v, err
	}
	change(object)
	return structs.From(object)
}

// schemeConverter converts between the versions of a kind with the functions of a scheme.
type schemeConverter struct{ scheme *runtime.Scheme }

// Convert implements [managedfields.Converter].
func (c schemeConverter) Convert(object value.Value, apiVersion string) (value.Value, error) {
	to, err := gvkschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return value.Value{}, err
	}
	gvk := gvkschema.FromAPIVersionAndKind(object.Get("apiVersion").Str(), object.Get("kind").Str())
	in, err := c.scheme.New(gvk)
	if err != nil {
		return value.Value{}, missing(err)
	}
	if err := structs.Into(object, in); err != nil {
		return value.Value{}, err
	}
	internal := gvkschema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}
	if c.scheme.Recognizes(internal.WithKind(gvk.Kind)) {
		if in, err = c.scheme.UnsafeConvertToVersion(in, internal); err != nil {
			return value.Value{}, err
		}
	}
	out, err := c.scheme.UnsafeConvertToVersion(in, to)
	if err != nil {
		return value.Value{}, missing(err)
	}
	return structs.From(out)
}

// WriteOptions names the writer and the way of a write.
type WriteOptions struct {
	Manager     string
	Subresource string // empty for the object itself
	Force       bool   // decides conflicts of an apply in favour of Manager
}

// Outcome is the result of a write.
type Outcome struct {
	Object managedfields.Object // the object to be stored
	// Content says whether Object differs from the live object outside managed fields. Ownership says whether a manager's fields or
	// version differ; times alone do not count. If both are false, the object need not be stored.
	Content, Ownership bool
}

// Into fills target with the object of the outcome: see the function [Into].
func (o Outcome) Into(target any) error { return Into(o.Object, target) }

// Apply applies config to live. live is nil if no object is stored yet. Both are in a form that [ObjectOf] reads. Errors are those of
// [Registry.Manager] and of ObjectOf. Errors of the field manager itself are an [*apierrors.StatusError].
func (r *Registry) Apply(live, config any, o WriteOptions) (Outcome, error) {
	return r.write(live, config, o, func(m *managedfields.FieldManager, live, config managedfields.Object) (managedfields.Object, error) {
		return m.Apply(live, config, o.Manager, o.Force)
	})
}

// Update replaces live by object. Its arguments and errors are those of [Registry.Apply].
func (r *Registry) Update(live, object any, o WriteOptions) (Outcome, error) {
	return r.write(live, object, o, func(m *managedfields.FieldManager, live, object managedfields.Object) (managedfields.Object, error) {
		return m.Update(live, object, o.Manager)
	})
}

// write reads a request, calls write with the field manager of the sent object, and returns the outcome.
func (r *Registry) write(
	live, sent any, o WriteOptions,
	write func(m *managedfields.FieldManager, live, sent managedfields.Object) (managedfields.Object, error),
) (Outcome, error) {
	before, err := r.object(live)
	if err != nil {
		return Outcome{}, fmt.Errorf("live object: %w", err)
	}
	object, err := r.object(sent)
	if err != nil {
		return Outcome{}, fmt.Errorf("sent object: %w", err)
	}
	m, err := r.Manager(gvkschema.GroupVersionKind(object.GVK()), o.Subresource)
	if err != nil {
		return Outcome{}, err
	}
	after, err := write(m, before, object)
	if err != nil {
		return Outcome{}, StatusError(err)
	}
	return Outcome{after, !after.Content.Equal(before.Content), !SameOwners(before.Entries, after.Entries)}, nil
}

// object is ObjectOf. A typed object without apiVersion and kind gets those of the scheme.
func (r *Registry) object(v any) (managedfields.Object, error) {
	object, err := ObjectOf(v)
	typed, ok := v.(runtime.Object)
	if err != nil || !ok || r.scheme == nil || object.Content.IsAbsent() || object.Content.Get("kind").Str() != "" {
		return object, err
	}
	gvks, _, err := r.scheme.ObjectKinds(typed)
	if err != nil {
		return object, err
	}
	content := object.Content.With("apiVersion", value.String(gvks[0].GroupVersion().String())).With("kind", value.String(gvks[0].Kind))
	return managedfields.Object{Content: content, Entries: object.Entries}, nil
}

// SameOwners reports whether in both lists the same managers own the same fields in the same versions. Times do not count.
func SameOwners(before, after []managedfields.Entry) bool {
	if len(before) != len(after) {
		return false
	}
	left := map[merge.Manager]managedfields.Entry{}
	for _, e := range before {
		left[identity(e)] = e
	}
	for _, e := range after {
		was, ok := left[identity(e)]
		if !ok || was.APIVersion != e.APIVersion || !was.FieldsV1.Equal(e.FieldsV1) {
			return false
		}
	}
	return true
}

// identity returns the manager of an entry. Updaters with the same name are different managers in each version.
func identity(e managedfields.Entry) merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, Subresource: strings.Clone(e.Subresource)}
	if e.Operation == merge.Update {
		m.APIVersion = e.APIVersion
	}
	return m
}
