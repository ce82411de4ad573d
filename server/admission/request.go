package admission

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Operation names what a request does with its object.
type Operation string

// The operations. A patch is a Create or an Update.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// User is the client that sends a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Endpoint is a resource in one version, and the kind of its objects there.
type Endpoint struct {
	Resource kschema.GroupVersionResource
	Kind     kschema.GroupVersionKind
}

// Request describes a write to the plugins.
type Request struct {
	Operation Operation
	Endpoint
	Subresource     string
	Namespace, Name string // Name is empty while the server still has to generate it
	User            User
	DryRun          bool

	// Object is the object that will be stored, of the kind of the request. It is absent for a delete; for a connection it holds the
	// options. Plugins may replace it in Mutate.
	Object Object
	// Old is the stored object. It is absent for a create and a connection.
	Old Object
	// Scope computes further facts about the request on demand.
	Scope Scope
	// Warn adds a warning to the answer.
	Warn func(texts ...string)
	// Annotate adds an annotation to the audit event of the request; nil drops it.
	Annotate func(Annotation)

	pass    int
	again   bool
	patched bool // see Patched
	memory  map[Plugin]any
}

// Step is a phase of admission that is over.
type Step struct {
	Type      string // admit or validate
	Operation Operation
	Rejected  bool
}

// Annotation is a key and a value for the audit event of a request. Printing, logging and encoding hide a value that quotes the body of the
// request. An audit policy that records bodies reads the field Value.
type Annotation struct {
	Key, Value string
	// Body reports whether the value quotes the body of the request.
	Body bool
	// BesideBody reports whether an event of the audit log has the annotation only if it has the body of the request, too.
	BesideBody bool `json:"-"`
}

// quoted replaces a value that quotes a body.
const quoted = "(quotes the body of the request)"

// Shown returns the annotation for readers that may not see bodies.
func (a Annotation) Shown() Annotation {
	if a.Body {
		a.Value = quoted
	}
	return a
}

// String returns the key and the value, which is hidden if it quotes a body.
func (a Annotation) String() string { return a.Key + "=" + a.Shown().Value }

// Format prints the annotation as String does for every verb.
func (a Annotation) Format(s fmt.State, _ rune) { io.WriteString(s, a.String()) }

// LogValue returns the text of String.
func (a Annotation) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalJSON encodes the annotation of Shown.
func (a Annotation) MarshalJSON() ([]byte, error) {
	type plain Annotation // without methods
	return json.Marshal(plain(a.Shown()))
}

// Scope computes facts about a request on demand, because most requests need none of them. Its methods may be called concurrently.
type Scope interface {
	// Options returns the CreateOptions, UpdateOptions or DeleteOptions of the request, or null for a connection.
	Options() value.Value
	// Unread reports whether the object of the request differs from what its own text decodes to when a pass begins. The first patch then
	// counts as a change, even if it changes nothing. Built-in kinds differ in the first pass, because their managed fields have times with
	// fractions of a second. The Scale of a custom resource has a Go type and differs in every pass.
	Unread() bool
	// Equivalents returns the other endpoints that the object may be written at. They are other versions of its resource, and resources of
	// other groups that share its storage.
	Equivalents() []Endpoint
	// Served returns a comparable token of what is served at the endpoint of the request. While the token stays equal, Equivalents returns
	// the same endpoints for all requests of a subresource.
	Served() any
	// Convert converts an object of the request from one endpoint to another. A custom resource names its own version; other objects need
	// not.
	Convert(object value.Value, from, to Endpoint) (value.Value, error)
	// Read decodes a text at an endpoint. It returns the object as sent, and with its defaults. The error has the text of kube-apiserver.
	Read(text []byte, at Endpoint) (sent, defaulted value.Value, err error)
	// ReadStrict is Read that refuses fields that the kind does not have, and fields that stand twice. It returns the object with its defaults.
	ReadStrict(text []byte, at Endpoint) (defaulted value.Value, err error)
	// New returns a pointer to an empty object of the Go type at an endpoint, or nil for a custom resource.
	New(at Endpoint) any
	// Mutable returns why policies that see the object at an endpoint cannot change it, nil if they can. made is what they made of it, absent if
	// they left it. The error has the text of kube-apiserver, which cannot convert it.
	Mutable(at Endpoint, made value.Value) error
	// Type returns the type by which configurations are merged into objects at an endpoint. The error has the text of kube-apiserver.
	Type(at Endpoint) (*schema.Type, error)
}

// Patched notes that a plugin decoded the object from a text in this pass, as those do that patch it.
func (r *Request) Patched() { r.patched = true }

// Unread is [Scope.Unread] until a plugin decodes the object from a text.
func (r *Request) Unread() bool { return !r.patched && r.Scope.Unread() }

// Pass returns the number of the current mutating pass: 0, or 1 in the second.
func (r *Request) Pass() int { return r.pass }

// Again asks for a second pass of all plugins. A chain makes at most two passes.
func (r *Request) Again() { r.again = true }

// Memory returns what p stored with Remember in the previous pass, or nil.
func (r *Request) Memory(p Plugin) any { return r.memory[p] }

// Remember stores v for the next pass of p.
func (r *Request) Remember(p Plugin, v any) {
	if r.memory == nil {
		r.memory = map[Plugin]any{}
	}
	r.memory[p] = v
}

// ObjectName returns the name of the object in refusals: its name, or the prefix for a generated name.
func (r *Request) ObjectName() string {
	if r.Name != "" {
		return r.Name
	}
	if prefix := r.Object.Content().Get("metadata", "generateName").Str(); prefix != "" {
		return prefix
	}
	return "Unknown"
}
