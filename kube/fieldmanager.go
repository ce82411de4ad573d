package kube

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	smdfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// FieldManager is the field manager of an endpoint, with the methods of apimachinery's. It is safe for concurrent use.
//
// A write converts objects to values and back, and calls a [managedfields.FieldManager]. A caller that holds objects as maps or text can
// use that one directly, without these conversions.
type FieldManager struct {
	types       TypeConverter
	converter   runtime.ObjectConvertor
	defaulter   runtime.ObjectDefaulter
	creater     runtime.ObjectCreater
	kind        gvkschema.GroupVersionKind
	hub         gvkschema.GroupVersion
	subresource string
	custom      bool // whether all groups have the same hub
	resets      map[string]merge.Filter

	mu   sync.Mutex // held to make another endpoint
	made atomic.Pointer[endpoint]
}

// endpoint is a field manager with the types that it knows. An entry of an unknown version causes a new endpoint.
type endpoint struct {
	*managedfields.FieldManager
	types map[string]*schema.Type // by apiVersion
	empty error                   // why there is no empty object, which an apply to an untracked object needs
}

// NewDefaultFieldManager returns the field manager of an endpoint for kind. The arguments are those of apimachinery's function of this
// name. Types are looked up when the first request needs them.
func NewDefaultFieldManager(
	typeConverter TypeConverter, objectConverter runtime.ObjectConvertor, objectDefaulter runtime.ObjectDefaulter,
	objectCreater runtime.ObjectCreater, kind gvkschema.GroupVersionKind, hub gvkschema.GroupVersion, subresource string,
	resetFields map[smdfieldpath.APIVersion]smdfieldpath.Filter,
) (*FieldManager, error) {
	if typeConverter == nil {
		return nil, errors.New("failed to create field manager: typeconverter must not be nil")
	}
	return &FieldManager{
		types: typeConverter, converter: objectConverter, defaulter: objectDefaulter, creater: objectCreater,
		kind: kind, hub: hub, subresource: subresource, resets: filtersOf(resetFields),
	}, nil
}

// NewDefaultCRDFieldManager is [NewDefaultFieldManager] for custom resources. Objects of every group are converted through the version
// hub.
func NewDefaultCRDFieldManager(
	typeConverter TypeConverter, objectConverter runtime.ObjectConvertor, objectDefaulter runtime.ObjectDefaulter,
	objectCreater runtime.ObjectCreater, kind gvkschema.GroupVersionKind, hub gvkschema.GroupVersion, subresource string,
	resetFields map[smdfieldpath.APIVersion]smdfieldpath.Filter,
) (*FieldManager, error) {
	m, err := NewDefaultFieldManager(
		typeConverter, objectConverter, objectDefaulter, objectCreater, kind, hub, subresource, resetFields)
	if err == nil {
		m.custom = true
	}
	return m, err
}

// Apply applies appliedObj to liveObj, and returns a new object. If the apply changes the object, the result is in the version of the hub.
// Otherwise it is a copy of liveObj with the new managed fields. liveObj is an empty object if no object is stored yet. Conflicts are an
// apierrors.StatusError with the reason Conflict, unless force decides them.
func (m *FieldManager) Apply(liveObj, appliedObj runtime.Object, manager string, force bool) (runtime.Object, error) {
	liveMeta, err := meta.Accessor(liveObj)
	if err != nil {
		return nil, fmt.Errorf("couldn't get accessor: %v", err)
	}
	untracked := len(liveMeta.GetManagedFields()) == 0
	if gvk := appliedObj.GetObjectKind().GroupVersionKind(); gvk != m.kind {
		return nil, m.otherKind(Entries(liveMeta.GetManagedFields()), gvk)
	}
	live, err := m.live(liveObj, untracked)
	if err != nil {
		return nil, err
	}
	if _, err := meta.Accessor(appliedObj); err != nil {
		return nil, fmt.Errorf("couldn't get accessor: %v", err)
	}
	config, err := ObjectOf(appliedObj)
	if err != nil {
		return nil, fmt.Errorf("failed to create typed patch object (%v): %v", describe(appliedObj), err)
	}
	to, err := m.endpoint(live.Entries)
	if err != nil {
		return nil, fmt.Errorf("failed to create typed patch object (%v): %v", describe(appliedObj), err)
	}
	if untracked && to.empty != nil {
		return nil, to.empty
	}
	plan, err := to.Plan(live, config, manager)
	if err != nil {
		return nil, requestError(err)
	}
	decide := plan.Commit
	if force {
		decide = plan.Force
	}
	outcome, err := decide()
	if err != nil {
		return nil, requestError(err)
	}
	if !plan.Changed() {
		return kept(liveObj, live, outcome)
	}
	return m.stored(appliedObj, outcome)
}

// otherKind returns the error of an apply of kind gvk. Invalid managed fields of the live object are refused first.
func (m *FieldManager) otherKind(live []managedfields.Entry, gvk gvkschema.GroupVersionKind) error {
	to, err := m.endpoint(live)
	if err != nil {
		return err
	}
	config := managedfields.Object{Content: value.Object(
		value.Member{Name: "apiVersion", Value: value.String(gvk.GroupVersion().String())},
		value.Member{Name: "kind", Value: value.String(gvk.Kind)},
	)}
	_, err = to.Plan(managedfields.Object{Entries: live}, config, "")
	return requestError(err)
}

// live returns the live object of an apply in the endpoint's version. Errors about an untracked object are those of the update that gives
// it an owner.
func (m *FieldManager) live(liveObj runtime.Object, untracked bool) (managedfields.Object, error) {
	live, err := m.versioned(liveObj)
	switch {
	case err == nil:
		return live, nil
	case untracked:
		return live, fmt.Errorf("failed to create manager for existing fields: failed to convert new object (%v) to proper version (%v): %v",
			describe(liveObj), m.kind.GroupVersion(), err)
	}
	return live, fmt.Errorf("failed to convert live object (%v) to proper version: %v", describe(liveObj), err)
}

// kept returns a copy of the live object with the managed fields and kubectl's record of outcome.
func kept(liveObj runtime.Object, live, outcome managedfields.Object) (runtime.Object, error) {
	out := liveObj.DeepCopyObject()
	accessor, err := meta.Accessor(out)
	if err != nil {
		return nil, err
	}
	accessor.SetManagedFields(ManagedFields(outcome.Entries))
	record := outcome.Content.Get("metadata", "annotations", managedfields.LastAppliedAnnotation)
	if record.Equal(live.Content.Get("metadata", "annotations", managedfields.LastAppliedAnnotation)) {
		return out, nil
	}
	annotations := maps.Clone(accessor.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[managedfields.LastAppliedAnnotation] = record.Str(); record.IsAbsent() {
		delete(annotations, managedfields.LastAppliedAnnotation)
	}
	accessor.SetAnnotations(annotations)
	return out, nil
}

// stored returns outcome with defaults, in the version of the hub. Errors name appliedObj.
func (m *FieldManager) stored(appliedObj runtime.Object, outcome managedfields.Object) (runtime.Object, error) {
	object, err := m.converter.ConvertToVersion(unstructuredOf(outcome.Content), m.kind.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("failed to convert new object (%v) to proper version: %v", describe(appliedObj), err)
	}
	m.defaulter.Default(object)
	if object, err = m.converter.ConvertToVersion(object, m.hub); err != nil {
		return nil, fmt.Errorf("failed to convert to unversioned (%v): %v", describe(appliedObj), err)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	accessor.SetManagedFields(ManagedFields(outcome.Entries))
	return object, nil
}

// Update brings the managed fields of newObj, which replaces liveObj, up to date. It modifies newObj and returns it. If an
// object has no metadata, newObj is returned unchanged.
func (m *FieldManager) Update(liveObj, newObj runtime.Object, manager string) (runtime.Object, error) {
	liveMeta, err := meta.Accessor(liveObj)
	if err != nil {
		return newObj, nil
	}
	newMeta, err := meta.Accessor(newObj)
	if err != nil {
		return newObj, nil
	}
	sent := newMeta.GetManagedFields()
	newMeta.SetManagedFields(nil)
	if liveMeta.GetUID() != "" && m.untracked(sent, liveMeta.GetManagedFields()) {
		return newObj, nil
	}
	object, err := m.versioned(newObj)
	if err != nil {
		return nil, fmt.Errorf("failed to convert new object (%v) to proper version (%v): %v", describe(newObj), m.kind.GroupVersion(), err)
	}
	object.Entries = Entries(sent)
	live, err := m.versioned(liveObj)
	if err != nil {
		return nil, fmt.Errorf("failed to convert live object (%v) to proper version: %v", describe(liveObj), err)
	}
	to, err := m.endpoint(live.Entries, object.Entries)
	if err != nil {
		return nil, fmt.Errorf("failed to convert new object (%v) to smd typed: %v", describe(newObj), err)
	}
	outcome, err := to.Update(live, object, manager)
	if err != nil {
		return nil, requestError(err)
	}
	newMeta.SetManagedFields(ManagedFields(outcome.Entries))
	return newObj, nil
}

// untracked reports whether an update starts without managed fields: the request resets them, or neither object has any. A subresource
// takes those of the live object.
func (m *FieldManager) untracked(sent, live []metav1.ManagedFieldsEntry) bool {
	if m.subresource != "" {
		return len(live) == 0
	}
	reset := sent != nil && len(sent) == 0 || len(sent) == 1 && sent[0] == metav1.ManagedFieldsEntry{}
	return reset || len(sent)+len(live) == 0
}

// UpdateNoErrors is [FieldManager.Update]. If the update fails, newObj gets the managed fields of liveObj. UpdateNoErrors does not log.
func (m *FieldManager) UpdateNoErrors(liveObj, newObj runtime.Object, manager string) runtime.Object {
	object, err := m.Update(liveObj, newObj, manager)
	if err == nil {
		return object
	}
	liveMeta, liveErr := meta.Accessor(liveObj)
	newMeta, newErr := meta.Accessor(newObj)
	if liveErr == nil && newErr == nil {
		newMeta.SetManagedFields(liveMeta.GetManagedFields())
	}
	return newObj
}

// versioned returns object in the endpoint's version.
func (m *FieldManager) versioned(object runtime.Object) (managedfields.Object, error) {
	converted, err := m.converter.ConvertToVersion(object, m.kind.GroupVersion())
	if err != nil {
		return managedfields.Object{}, err
	}
	return ObjectOf(converted)
}

// maxVersions bounds the versions that an endpoint knows. Clients can write any version in an entry, and a type converter may have a type
// for each.
const maxVersions = 32

// endpoint returns a field manager that knows the types of all versions in entries. It leaves out versions in which the kind has no type.
// The error is that of the endpoint's own type.
func (m *FieldManager) endpoint(entries ...[]managedfields.Entry) (*endpoint, error) {
	if made := m.made.Load(); made != nil && len(m.unknown(made, entries)) == 0 {
		return made, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	made := m.made.Load()
	types, version := m.unknown(made, entries), m.kind.GroupVersion().String()
	switch {
	case made == nil:
		own, err := typeOf(m.types, m.kind)
		if err != nil {
			return nil, err
		}
		types[version] = own
	case len(types)+len(made.types) <= maxVersions:
		maps.Copy(types, made.types)
	default: // forget the versions of other objects
		types = m.unknown(nil, entries)
		types[version] = made.types[version]
	}
	next, err := m.make(types)
	if err != nil {
		return nil, err
	}
	if len(types) <= maxVersions {
		m.made.Store(next)
	}
	return next, nil
}

// unknown returns the types of the versions in entries that made lacks. It leaves out versions in which the kind has no type.
func (m *FieldManager) unknown(made *endpoint, entries [][]managedfields.Entry) map[string]*schema.Type {
	more := map[string]*schema.Type{}
	for _, list := range entries {
		for _, e := range list {
			apiVersion := strings.TrimPrefix(e.APIVersion, "/")
			if made != nil && made.types[apiVersion] != nil || more[apiVersion] != nil {
				continue
			}
			gv, err := gvkschema.ParseGroupVersion(apiVersion)
			if err != nil {
				continue
			}
			if t, err := typeOf(m.types, gv.WithKind(m.kind.Kind)); err == nil {
				more[apiVersion] = t
			}
		}
	}
	return more
}

// make returns an endpoint with the given types.
func (m *FieldManager) make(types map[string]*schema.Type) (*endpoint, error) {
	config := managedfields.Config{
		GVK: schema.GVK(m.kind), Types: types, Subresource: m.subresource, Converter: versions{m}, ResetFields: m.resets,
	}
	empty := m.empty(&config)
	made, err := managedfields.New(config)
	return &endpoint{made, types, empty}, err
}

// empty sets the empty object in config, and the hub of kinds that servers hold as Go structs.
func (m *FieldManager) empty(config *managedfields.Config) error {
	if m.creater == nil {
		return nil
	}
	object, err := m.creater.New(m.kind)
	if err != nil {
		return fmt.Errorf("failed to create empty object of type %v: %v", m.kind, err)
	}
	if _, ok := object.(runtime.Unstructured); ok {
		object.GetObjectKind().SetGroupVersionKind(m.kind)
	} else if !m.custom {
		config.Hub = m.hub.String()
	}
	empty, err := m.versioned(object)
	if err != nil {
		return fmt.Errorf("failed to create empty object of type %v: %v", m.kind, err)
	}
	config.Empty = empty.Content
	return nil
}

// versions converts values with the object converter of a field manager.
type versions struct{ *FieldManager }

// Convert implements [managedfields.Converter].
func (v versions) Convert(object value.Value, apiVersion string) (value.Value, error) {
	to, err := gvkschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return value.Value{}, err
	}
	if to.Version == runtime.APIVersionInternal { // a client may have written it in an entry
		if _, err := typeOf(v.types, to.WithKind(v.kind.Kind)); err != nil {
			return value.Value{}, errNoVersion{err}
		}
	}
	from := unstructuredOf(object)
	hub := v.hub
	if !v.custom {
		hub.Group = from.GroupVersionKind().Group
	}
	held, err := v.converter.ConvertToVersion(from, hub)
	if err != nil {
		return value.Value{}, missing(err)
	}
	converted, err := v.converter.ConvertToVersion(held, to)
	if err != nil {
		return value.Value{}, missing(err)
	}
	return valueOf(converted) // managed fields are data here: an owner of them loses them
}

// missing returns err. If a scheme does not know the version, the result wraps [merge.ErrNoVersion].
func missing(err error) error {
	if runtime.IsNotRegisteredError(err) {
		return errNoVersion{err}
	}
	return err
}

type errNoVersion struct{ error }

// Unwrap returns [merge.ErrNoVersion] and the error of the scheme.
func (e errNoVersion) Unwrap() []error { return []error{merge.ErrNoVersion, e.error} }

// unstructuredOf returns content in new maps.
func unstructuredOf(content value.Value) *unstructured.Unstructured {
	object, _ := content.ToAny().(map[string]any)
	return &unstructured.Unstructured{Object: object}
}

// describe names an object for errors, as apimachinery does.
func describe(object runtime.Object) string {
	name, namespace := "<unknown>", "<unknown>"
	if accessor, err := meta.Accessor(object); err == nil {
		name, namespace = accessor.GetName(), accessor.GetNamespace()
	}
	return fmt.Sprintf("%v/%v; %v", namespace, name, object.GetObjectKind().GroupVersionKind())
}

// filtersOf returns filters as deed's. Sets are passed as text, because a filter may be the caller's own.
func filtersOf(filters map[smdfieldpath.APIVersion]smdfieldpath.Filter) map[string]merge.Filter {
	out := map[string]merge.Filter{}
	for version, filter := range filters {
		if filter != nil {
			out[string(version)] = merge.Filter{Keep: func(s fieldpath.Set) fieldpath.Set { return filtered(s, filter) }}
		}
	}
	return out
}

// filtered returns the part of s that filter keeps, and s itself if a set cannot be written as text.
func filtered(s fieldpath.Set, filter smdfieldpath.Filter) fieldpath.Set {
	var set smdfieldpath.Set
	if err := set.FromJSON(strings.NewReader(string(s.AppendJSON(nil)))); err != nil {
		return s
	}
	text, err := filter.Filter(&set).ToJSON()
	if err != nil {
		return s
	}
	kept, err := fieldpath.ParseSet(text)
	if err != nil {
		return s
	}
	return kept
}
