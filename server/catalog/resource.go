package catalog

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/jsonpath"
	"github.com/deed-project/deed/value"
)

// Manager returns the field manager of an endpoint. It may create the field manager at the first call. A nil Manager means no endpoint.
type Manager func() *managedfields.FieldManager

// StaticManager returns a Manager that returns m.
func StaticManager(m *managedfields.FieldManager) Manager {
	return func() *managedfields.FieldManager { return m }
}

// Resource is a kind of objects that the server serves. It is immutable.
type Resource struct {
	Group                            string // empty for the core group
	Plural, Singular, Kind, ListKind string
	ShortNames, Categories           []string
	Namespaced                       bool

	// Custom reports whether a CustomResourceDefinition defines the resource. kube-apiserver serves custom resources with another router,
	// which has other error texts.
	Custom bool
	// Virtual marks a virtual resource. Its objects are not stored: they are requests that the server answers, or what it computes.
	Virtual bool
	// Broken marks a custom resource whose conversion webhook cannot be asked. Discovery and OpenAPI lack it, and every request is refused.
	Broken bool
	// Terminating reports that the definition is being deleted, or says that it is. Creates are refused from then on.
	Terminating bool
	// Verbs are the verbs of discovery.
	Verbs []string
	// Gone is done when this definition of the resource is no longer served. It is nil for resources that are always served.
	Gone context.Context
	// Swept is the version in which the objects of a definition are deleted that is being deleted and serves no version; otherwise nil.
	Swept *Version
	// Versions are the served versions, the preferred version first.
	Versions []*Version
	// Orphans makes orphaning the default of a delete: dependents stay unless the request says otherwise. OrphanWarning is the warning of a
	// delete that uses this default; empty for none.
	Orphans       bool
	OrphanWarning string
	// NoDependents reports that objects have no dependents, so that a delete needs no propagation policy.
	NoDependents bool
	// Grace returns the grace period of a delete in seconds. asked is the period in the request, nil if there is none. Grace is nil for
	// resources without graceful deletion.
	Grace func(object value.Value, asked *int64) int64
	// Kept returns why a delete of the object with a name is refused, "" if it is not. A delete of the collection is never refused. Nil keeps no
	// object.
	Kept func(name string) (why string)
	// PreconditionFailed begins the error text of a failed UID precondition. It is empty for the usual text.
	PreconditionFailed string
	// CreateOnUpdate makes an update create an object that does not exist. An update or apply of the status does so, too, if there is one.
	CreateOnUpdate bool
	// CreateOnApply makes an apply of the status create an object that does not exist.
	CreateOnApply bool
	// HasTTL gives the objects a TTL.
	HasTTL bool
	// PrefixAsName makes the prefix of a generated name the name, with nothing behind it.
	PrefixAsName bool
	// Order lists the names of the versions as they were declared; empty if that is the order of Versions.
	Order []string
	// Stored is the name of the version that objects are stored in.
	Stored string
	// Hashed is the storage version of kube-apiserver, such as apps/v1 or /v1, whose hash discovery contains. If it is empty, Group and
	// Stored are used.
	Hashed string
	// Prefix is the prefix of the objects' keys in the store. It ends with a slash.
	Prefix string
}

// GroupResource returns the resource as error texts name it, such as things.example.org.
func (r *Resource) GroupResource() kschema.GroupResource {
	return kschema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupKind returns the kind as validation errors name it, such as Thing.example.org.
func (r *Resource) GroupKind() kschema.GroupKind {
	return kschema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// Key returns the key of an object in the store. namespace is empty for cluster-scoped resources.
func (r *Resource) Key(namespace, name string) string {
	return r.KeyPrefix(namespace) + name
}

// KeyPrefix returns the key prefix of the objects in a namespace, or of all objects if namespace is empty.
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

// SortVersions sorts the versions of a resource by preference.
func SortVersions(versions []*Version) {
	slices.SortFunc(versions, func(a, b *Version) int { return version.CompareKubeAwareVersionStrings(b.Name, a.Name) })
}

// Has reports whether the resource supports verb.
func (r *Resource) Has(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Version is one served version of a resource. It is immutable.
type Version struct {
	*Resource
	Name string
	Form Form

	// Field managers by endpoint; nil if the subresource does not exist.
	Main, Status, Finalize Manager
	Scale                  *Scale
	// Parts holds the field managers of further subresources that write a part of the object, by name, such as resize of pods.
	Parts map[string]Manager
	// Actions holds the kinds of virtual subresources by name, such as binding of pods. Their objects are not stored. The objects of
	// connections are made from the query.
	Actions map[string]*Version
	// Connection reads the options of a connection; nil for other kinds.
	Connection *Connection
	// Log reports that an action reads a text. New returns the options in its query.
	Log bool
	// Published returns the type of the kind in OpenAPI, if it is not that of the field manager. Policies merge by it.
	Published func() *schema.Type
	// Takes lists further apiVersions that objects in requests may have.
	Takes []string

	// Schema is the openAPIV3Schema of a custom resource; absent if it has none.
	Schema value.Value
	// AnswersDeleted makes a delete answer with the deleted object instead of a Status.
	AnswersDeleted bool
	// New returns a pointer to an empty object of the Go type of a built-in kind. It is nil for custom resources.
	New func() any
	// Empty returns what a built-in kind shows of an object that has nothing, without kind and metadata. It is nil for custom resources.
	Empty func() value.Value
	// WarnOfNew returns warnings of a new object as it is sent, which an answer has even if the object is refused. It is nil for most kinds.
	WarnOfNew func(object value.Value) []string
	// CheckConversion is that of a built-in kind: see package kinds. It may be nil.
	CheckConversion func(object value.Value) error

	// Columns returns the columns of a Table, the name first. It may compute them at the first call.
	Columns func() []Column
	// ShownAs is the name of the version in which a Table shows objects that are read; empty for the version itself. kube-apiserver makes
	// Tables of objects before it converts them to the version of the request.
	ShownAs string
	// NoStatusTable tells that the endpoint of the status has no Tables.
	NoStatusTable bool
	// Row returns the cells of an object at the time now. It is nil if each column has a path instead.
	Row func(object value.Value, now time.Time) Row
	// Default returns the name of the default object in a list, which a Table marks. It is nil for resources without a default.
	Default func(items []value.Value) string
	// Fields are the labels of field selectors in addition to metadata.name and metadata.namespace. They are JSON paths without the dot,
	// except those in Derived.
	Fields []string
	// NoNamespaceField forbids field selectors to name metadata.namespace, although the objects have one.
	NoNamespaceField bool
	// Derived computes the text of selectable fields whose text differs from the value at a path.
	Derived map[string]func(object value.Value) string
	// FieldRefusal is the error format, with a verb for the field, of an unsupported field selector; "" for the usual text.
	FieldRefusal string
	// Sign returns a new object that names its creator. It is nil for kinds whose objects do not.
	Sign func(object value.Value, by Creator) value.Value
	// Deprecation is the warning of every response; empty for versions that are not deprecated. Removed is the first release of Kubernetes
	// without a deprecated version, such as 1.38; empty if there is none.
	Deprecation, Removed string
}

// Creator is the user who creates an object.
type Creator struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// GVK returns the kind of the version's objects.
func (v *Version) GVK() schema.GVK {
	return schema.GVK{Group: v.Group, Version: v.Name, Kind: v.Kind}
}

// HasSubresource reports whether a subresource of the given name exists. The empty name is the main endpoint.
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

// Connects returns the connection that a subresource is; nil for other subresources.
func (v *Version) Connects(subresource string) *Connection {
	if action := v.Actions[subresource]; action != nil {
		return action.Connection
	}
	return nil
}

// ShowsTables reports whether the endpoint of a subresource, or the main one, can show an object as a Table.
func (v *Version) ShowsTables(subresource string) bool {
	switch subresource {
	case "":
		return true
	case "status":
		return !v.NoStatusTable
	}
	return subresource == "scale"
}

// Logs reports whether a subresource is a text.
func (v *Version) Logs(subresource string) bool {
	action := v.Actions[subresource]
	return action != nil && action.Log
}

// APIVersion returns the apiVersion of the version's objects.
func (v *Version) APIVersion() string { return v.GVK().APIVersion() }

// Connection is the kind of the options of a connect request, such as exec.
type Connection struct {
	// Read returns the options from a query and the path behind the subresource. The error describes invalid options.
	Read func(query url.Values, path string) (value.Value, error)
	// Below allows a path behind the subresource.
	Below bool
}

// Column is a column of a Table.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
	Path                            string // a JSON path such as .spec.replicas
	// Find returns the first value at Path in v, or an absent value. It subtracts the visited values from left. Find is nil if Path consists
	// of names only. The column of the name has it nevertheless: an absent name shows as an empty text.
	Find func(v value.Value, left *int) (value.Value, error)
}

// PathColumn returns c with Find for its Path.
func PathColumn(c Column) Column {
	if _, simple := SimplePath(c.Path); simple {
		return c
	}
	compiled, err := jsonpath.Compile(c.Path)
	if err != nil {
		c.Find = func(value.Value, *int) (value.Value, error) { return value.Value{}, err }
		return c
	}
	c.Find = compiled.First
	return c
}

// SimplePath returns a JSON path without its leading dot, and whether it consists of names and dots only.
func SimplePath(path string) (string, bool) {
	simple := strings.TrimPrefix(path, ".")
	return simple, !strings.ContainsAny(simple, `[]()*?@'"\`) && !strings.Contains(simple, "..")
}

// Listed returns a function that returns columns.
func Listed(columns ...Column) func() []Column {
	return func() []Column { return columns }
}

// Row is the row of an object in a Table.
type Row struct {
	Cells      []value.Value
	Conditions []value.Value // conditions of the row; usually empty
}
