// Package write carries out the verbs that write: create, update, patch, apply and delete, and those of Scales. Each verb is a method of a
// [Writer] that takes a request. Its file lists the steps, which are read from top to bottom.
//
// Writes to stored objects have [Task.Run] in common: an object is read, changed, prepared, validated and stored, again and again until no
// other write was faster. A step takes what it needs from the request and from the steps before it, and returns what it finds out.
package write

import (
	"context"
	stderrors "errors"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// MaxBody is the size that a body may have, as in kube-apiserver.
const MaxBody = 3 << 20

// Host is the server that writes run in. Its methods are called by many goroutines at once, with the context of the request. None of them
// may keep the request.
type Host interface {
	// User returns the user who sends a request.
	User(context.Context) admission.User
	// Allows reports whether the user of a request may do something else with the object that it names, and why not.
	Allows(q *rest.Request, verb string) (allowed bool, reason string)
	// SharingStorage returns the versions in which the objects of a resource are served: by this resource, and by resources of other groups
	// that share the stored objects. They come as they are declared.
	SharingStorage(*catalog.Resource) []*catalog.Version
	// Resource returns a resource that is served at the moment, nil if it is not served.
	Resource(kschema.GroupResource) *catalog.Resource
	// Minor returns the number of the minor release of Kubernetes that the server is, such as 37 for v1.37.
	Minor() int
	// Stored is called after each change of the store and before the request is answered. It is not called for a dry run. When it
	// returns, the server acts as the change demands: it serves a new definition, for example.
	Stored(context.Context, *rest.Request, Event)
}

// Event says what a write did to its object.
type Event uint8

const (
	WasStored  Event = iota // it is new, or changed
	WasMarked               // it is to be deleted, and waits
	WasRemoved              // it is gone
)

// Writer carries out the verbs that write. It is safe for concurrent use.
type Writer struct {
	Reader *read.Reader
	Host   Host
	// Permit is asked while an object is validated; live is absent for a new one. It returns the faults that the kind found, and a fault for each
	// permission that the user lacks beside that to write the object. nil adds none.
	Permit func(q *rest.Request, object, live value.Value, found field.ErrorList) (field.ErrorList, error)
	// Admission decides about writes; the zero Chain admits everything.
	Admission admission.Chain
	// Observe is told how long each step of admission took; nil for nothing.
	Observe func(s admission.Step, took time.Duration)
	// Allocator gives objects what they take from ranges; nil gives nothing.
	Allocator Allocator
	// MaxObject is how many bytes a write of one object to the store may have; 0 is DefaultMaxObject.
	MaxObject int
	// EventTTL is how long objects of resources with a TTL are kept after they were last written; 0 is for ever.
	EventTTL time.Duration

	ordered ordered
}

// Allocator gives objects of some resources what they take from ranges that the whole API shares, such as the addresses of services.
type Allocator interface {
	// Allocate completes an object that is to be stored in place of live, absent for a new one. It is called once for each attempt, and done
	// once with whether the attempt stored the object. A dry run takes nothing.
	Allocate(ctx context.Context, q *rest.Request, object, live value.Value, dryRun bool) (completed value.Value, done func(stored bool), err error)
	// Release gives back what an object had that is gone.
	Release(ctx context.Context, q *rest.Request, object value.Value)
}

// allocate completes an object by the allocator of the writer. An object for which nothing can be allocated ends the write.
func (t *Task) allocate(object, live value.Value) (value.Value, func(stored bool), error) {
	q := t.Request
	if form, ok := q.Version.Form.(catalog.EarlyForm); ok && q.Target.Subresource == "" {
		if errs := form.ValidateEarly(q.Context(), object, live); len(errs) > 0 {
			return object, nil, invalid(q.Version, object, errs)
		}
	}
	if t.Writer.Allocator == nil {
		return object, func(bool) {}, nil
	}
	return t.Writer.Allocator.Allocate(t.Request.Context(), t.Request, object, live, t.DryRun)
}

// Change computes what is to replace live, the zero read.Live if nothing is stored. It may be called several times.
type Change func(live *read.Live) (managedfields.Object, error)

// Task is a write to one object: its request, and what the verb and the options of the request say about the write. The steps of a write
// take what they need from a task and from steps before them, and return what they find out.
//
// A task belongs to one goroutine and one write. Its fields are set before the first attempt. Later ones only change named, the name in the
// request, and the cache of equivalents.
type Task struct {
	Writer  *Writer
	Request *rest.Request
	DryRun  bool
	UID     string // that the stored object must have; empty for any
	Unasked bool   // admission is not asked whether the object may be deleted

	create   bool                  // an object that does not exist is created
	post     bool                  // the object must not exist
	applies  bool                  // the write is an apply
	deletion *metav1.DeleteOptions // of a delete
	unnamed  bool                  // the request names no object
	asked    string                // the name that the request has for a new object, which mutating admission may change; empty for a generated one
	named    bool                  // the server generated the name of the object
	sure     bool                  // an attempt left the object as it was read, and found another text in the store: see errUnsure
	decoded  value.Value           // the body of a create, if its parts need not be read again: see read.Live.SettledContent

	equivalents equivalents
}

// equivalents are the endpoints of all other versions of an object that is written, once a plugin asked for them.
type equivalents struct {
	// once guards of: plugins may ask from several goroutines.
	once sync.Once
	of   []admission.Endpoint
}

// Outcome is an object as a write leaves it.
type Outcome struct {
	managedfields.Object
	created bool
	text    func([]byte) []byte // appends the object as an answer has it; nil if it must be printed
}

// answer returns the outcome as the answer to its request.
func (o Outcome) answer() *rest.Answer {
	code := http.StatusOK
	if o.created {
		code = http.StatusCreated
	}
	return &rest.Answer{Code: code, Object: o.Object, Text: o.text, Converted: true}
}

// view returns how the version of the request shows stored objects.
func (t *Task) view() read.View { return t.Writer.Reader.View(t.Request.Version) }

// load returns the stored object of the request. The error is a 404 if there is none.
func (t *Task) load() (*read.Live, error) { return t.Writer.Reader.MustLoad(t.Request) }

// Retry calls attempt until it returns something else than store.ErrConflict, which says that another write was faster. It returns that
// error, or the context's once the context has ended.
//
// Attempts have no bound and no delay between them. One fails only because another write succeeded, so the store as a whole makes progress.
func Retry(ctx context.Context, attempt func() error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := attempt(); !stderrors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// storage lets objects share what they have in common.
var (
	storage = door.Open(value.Internal{})
	fields  = door.Open(managedfields.Internal{})
)
