package admission

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/value"
)

// Operation is what a request does with its object.
type Operation string

// The operations. A patch is one of the first two, whatever becomes of its object.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// User is who sends a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Endpoint is where objects are written: a resource in one version, and the kind that objects are of there.
type Endpoint struct {
	Resource kschema.GroupVersionResource
	Kind     kschema.GroupVersionKind
}

// Request is a write, as plugins are told of it.
type Request struct {
	Operation Operation
	Endpoint
	Subresource     string
	Namespace, Name string // the name is empty as long as the server is to generate it
	User            User
	DryRun          bool

	// Object is what is to be stored, of the kind of the request; absent for a delete, and the options of a connection. Plugins may
	// replace it in Mutate.
	Object Object
	// Old is what is stored; absent for a create and a connection.
	Old Object
	// Scope answers what else there is to know.
	Scope Scope
	// Warn adds a warning to the answer.
	Warn func(texts ...string)
	// Annotate notes something about the request for its audit; nil notes nothing.
	Annotate func(Annotation)

	pass   int
	again  bool
	memory map[Plugin]any
}

// Annotation is a note about a request: which key has which value. What quotes the body of a request is not printed, logged or encoded
// with the annotation: an audit that is to have bodies reads the field Value.
type Annotation struct {
	Key, Value string
	// Body tells that the value quotes the body of the request.
	Body bool
}

// quoted is what is shown in place of a value that quotes a body.
const quoted = "(quotes the body of the request)"

// Shown returns the annotation as it may be shown where no bodies are asked for.
func (a Annotation) Shown() Annotation {
	if a.Body {
		a.Value = quoted
	}
	return a
}

// String returns the key and the value that may be shown.
func (a Annotation) String() string { return a.Key + "=" + a.Shown().Value }

// Format prints the annotation as String does, whatever the verb.
func (a Annotation) Format(s fmt.State, _ rune) { io.WriteString(s, a.String()) }

// LogValue returns what is logged.
func (a Annotation) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalJSON encodes the annotation with the value that may be shown.
func (a Annotation) MarshalJSON() ([]byte, error) {
	type plain Annotation // without methods
	return json.Marshal(plain(a.Shown()))
}

// Scope is what is computed only if somebody asks for it. Methods may be called by several goroutines at once.
type Scope interface {
	// Options returns the options of the request: a CreateOptions, UpdateOptions or DeleteOptions, and null for a connection.
	Options() value.Value
	// Unread reports whether, at the beginning of a pass, the object of the request is not what its text reads as, so that the first
	// patch to it changes it whatever it says: the managed fields of built-in kinds have times with fractions of a second at first,
	// and the Scale of a custom resource has a Go type in every pass.
	Unread() bool
	// Equivalents returns the other endpoints that the object may be written at: other versions of its resource, and resources
	// of other groups that the same objects are stored for.
	Equivalents() []Endpoint
	// Served identifies what is served at the endpoint of the request: as long as it is the same, by ==, so are Equivalents for
	// requests of a subresource.
	Served() any
	// Convert returns an object of the request, which is as one endpoint has it, as another has it. A custom resource is what it says
	// that it is; other objects need not say it.
	Convert(object value.Value, from, to Endpoint) (value.Value, error)
	// Read returns the object that a text is at an endpoint, as it was sent and with its defaults. The error is in the words of
	// kube-apiserver.
	Read(text []byte, at Endpoint) (sent, defaulted value.Value, err error)
}

// Pass returns how often plugins were asked to mutate the object before: 0, or 1 when they are asked again.
func (r *Request) Pass() int { return r.pass }

// Again asks for a second pass of all plugins. There is no third.
func (r *Request) Again() { r.again = true }

// Memory returns what a plugin keeps from one pass to the next, nil in the first.
func (r *Request) Memory(p Plugin) any { return r.memory[p] }

// Remember keeps v for the next pass of a plugin.
func (r *Request) Remember(p Plugin, v any) {
	if r.memory == nil {
		r.memory = map[Plugin]any{}
	}
	r.memory[p] = v
}

// ObjectName returns the name that refusals give the object of a request: its name, or the prefix from which a name is generated.
func (r *Request) ObjectName() string {
	if r.Name != "" {
		return r.Name
	}
	if prefix := r.Object.Content().Get("metadata", "generateName").Str(); prefix != "" {
		return prefix
	}
	return "Unknown"
}
