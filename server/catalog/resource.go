package catalog

import (
	"context"
	"net/url"
	"slices"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Manager returns the field manager of what requests write through. It may be made when somebody asks for it first. nil is none.
type Manager func() *managedfields.FieldManager

// Made returns what returns m.
func Made(m *managedfields.FieldManager) Manager {
	return func() *managedfields.FieldManager { return m }
}

// Resource is a kind of objects that is served. It is immutable.
type Resource struct {
	Group                            string // empty for the core group
	Plural, Singular, Kind, ListKind string
	ShortNames, Categories           []string
	Namespaced                       bool

	// Custom tells that a CustomResourceDefinition defines the resource. kube-apiserver answers requests for those with another
	// router, in other words, than requests for built-in kinds.
	Custom bool
	// Question tells that objects ask the server something. They are answered, and not stored.
	Question bool
	// Terminating tells that the definition is being deleted: no object can be created any more.
	Terminating bool
	// Verbs are what can be done with objects, as discovery lists it.
	Verbs []string
	// Gone is done when the resource is not served any more as it is here; nil for resources that are always served.
	Gone context.Context
	// Versions are those that are served, the preferred one first.
	Versions []*Version
	// Orphans tells that what a deleted object owns stays, unless the request says otherwise. OrphanWarning is what a delete warns
	// of that leaves it to that; empty for nothing.
	Orphans       bool
	OrphanWarning string
	// Uncollected tells that objects own nothing: what becomes of it need not be said.
	Uncollected bool
	// Grace returns how many seconds an object has to end when it is deleted, given how many a request asks for, nil if it does not
	// say. It is nil for resources whose objects go at once.
	Grace func(object value.Value, asked *int64) int64
	// AnswersDeleted tells that a delete answers with the object that is gone, and not with a Status.
	AnswersDeleted bool
	// PreconditionFailed begins the refusal to delete another object than the client saw, of resources that say it in their own way.
	PreconditionFailed string
	// CreateOnUpdate tells that an update creates an object that does not exist.
	CreateOnUpdate bool
	// Brief tells that objects are kept for a time only.
	Brief bool
	// Order has the names of the versions as they were declared; empty if that is how Versions has them.
	Order []string
	// Stored is the name of the version that objects are stored in.
	Stored string
	// Hashed is the group and version that kube-apiserver stores objects in, such as apps/v1 or /v1, of which discovery has a hash. It
	// is Group and Stored if it is empty.
	Hashed string
	// Prefix is what the keys of objects in the store begin with, a slash at its end.
	Prefix string
}

// GroupResource returns the resource as texts name it, such as things.example.org.
func (r *Resource) GroupResource() kschema.GroupResource {
	return kschema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupKind returns the kind as texts about invalid objects name it, such as Thing.example.org.
func (r *Resource) GroupKind() kschema.GroupKind {
	return kschema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// Key returns the key of an object in the store. The namespace is empty for resources of the cluster.
func (r *Resource) Key(namespace, name string) string {
	return r.KeyPrefix(namespace) + name
}

// KeyPrefix returns what the keys of the objects in a namespace begin with, and of all objects if it is empty.
func (r *Resource) KeyPrefix(namespace string) string {
	if !r.Namespaced || namespace == "" {
		return r.Prefix
	}
	return r.Prefix + namespace + "/"
}

// Version returns the version of the given name, nil if it is not served.
func (r *Resource) Version(name string) *Version {
	i := slices.IndexFunc(r.Versions, func(v *Version) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return r.Versions[i]
}

// Declared returns the versions in the order in which they were declared.
func (r *Resource) Declared() []*Version {
	if len(r.Order) == 0 {
		return r.Versions
	}
	out := make([]*Version, 0, len(r.Versions))
	for _, name := range r.Order {
		if v := r.Version(name); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// SortVersions puts the versions of a resource into the order of preference.
func SortVersions(versions []*Version) {
	slices.SortFunc(versions, func(a, b *Version) int { return version.CompareKubeAwareVersionStrings(b.Name, a.Name) })
}

// Has reports whether objects can be used with verb.
func (r *Resource) Has(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Version is a resource as one version of its group serves it. It is immutable.
type Version struct {
	*Resource
	Name string
	Form Form

	// The managers of fields by what requests write through; nil without the subresource.
	Main, Status, Finalize Manager
	Scale                  *Scale
	// Parts are the managers of fields of further subresources that are a part of the object, by name: resize, for instance, of pods.
	Parts map[string]Manager
	// Actions are the kinds of the objects that are sent to subresources to ask for something, by name: binding, for instance, of
	// pods. These objects are not stored. Those of connections are made of the query.
	Actions map[string]*Version
	// Connection tells how the kind of a connection is read; nil for all others.
	Connection *Connection
	// Takes are the apiVersions of objects that are sent to the version beside its own.
	Takes []string

	// Schema is the openAPIV3Schema of a custom resource; absent without one.
	Schema value.Value
	// New returns a pointer to an empty object of the Go type that a built-in kind has; nil for custom resources.
	New func() any

	// Columns returns those of a Table, the name first. They may be made when somebody asks for them first.
	Columns func() []Column
	// Row returns what an object shows in the columns at a time; nil if the columns say themselves where in an object they look.
	Row func(object value.Value, now time.Time) Row
	// Default returns the name of the object that is the default among those of a list, which its name is marked with; nil for
	// resources that have none.
	Default func(items []value.Value) string
	// Fields are what field selectors may name beside metadata.name and metadata.namespace: JSON paths without the dot, but for those of
	// Derived.
	Fields []string
	// Derived returns, for fields whose text is not that of what is at a path, the text that they have of an object.
	Derived map[string]func(object value.Value) string
	// FieldRefusal is how a field is refused that cannot be selected by, with a verb for it; "" for the usual words.
	FieldRefusal string
	// Deprecation is what every answer warns of; empty for versions that are not deprecated.
	Deprecation string
}

// GVK returns the kind of the version's objects.
func (v *Version) GVK() schema.GVK {
	return schema.GVK{Group: v.Group, Version: v.Name, Kind: v.Kind}
}

// HasSubresource reports whether objects have a subresource of the given name, or are asked for if it is empty.
func (v *Version) HasSubresource(name string) bool {
	switch name {
	case "":
		return true
	case "status":
		return v.Status != nil
	case "scale":
		return v.Scale != nil
	case "finalize":
		return v.Finalize != nil
	}
	return v.Parts[name] != nil || v.Actions[name] != nil
}

// Connects returns the way into an object that a subresource is; nil if it is none.
func (v *Version) Connects(subresource string) *Connection {
	if action := v.Actions[subresource]; action != nil {
		return action.Connection
	}
	return nil
}

// APIVersion returns the apiVersion of the version's objects.
func (v *Version) APIVersion() string { return v.GVK().APIVersion() }

// Connection is the kind of the options with which requests reach into an object.
type Connection struct {
	// Read returns the options that a query and the path behind the subresource stand for. The error says what is wrong with them.
	Read func(query url.Values, path string) (value.Value, error)
	// Below tells that there may be a path behind the subresource.
	Below bool
}

// Column is a column of a Table.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
	Path                            string // a JSON path such as .spec.replicas
}

// Listed returns what returns columns.
func Listed(columns ...Column) func() []Column {
	return func() []Column { return columns }
}

// Row is what a Table shows of an object.
type Row struct {
	Cells      []value.Value
	Conditions []value.Value // what there is to say of the object beside its cells; usually nothing
}
