package rest

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// MaxBody is the size that a body may have, as in kube-apiserver.
const MaxBody = 3 << 20

// Backend is what verbs work on. It is safe for concurrent use.
type Backend struct {
	Store store.Store
	Now   func() time.Time
	// Admission decides about writes; the zero Chain admits everything.
	Admission admission.Chain
	// User tells admission who sends a request; nil tells nothing.
	User func(context.Context) admission.User
	// Alike returns the versions in which the objects of a resource are served, by this resource and by those of other groups that
	// they are stored for as well; nil stands for the versions of the resource.
	Alike func(*catalog.Resource) []*catalog.Version
	// Resources returns a resource that is served, nil if it is not. It may be nil if no pod is evicted.
	Resources func(kschema.GroupResource) *catalog.Resource
	// Stored is told of each write to a resource, after it happened; nil is told nothing.
	Stored func(context.Context, *Request, Written)

	// CBOR tells that bodies and answers may be CBOR.
	CBOR bool
	// MaxObject is how many bytes a write of one object to the store may have; 0 is DefaultMaxObject.
	MaxObject int
	// Brief is how long objects of brief resources are kept after they were last written; 0 is for ever.
	Brief time.Duration

	recent  recent
	facts   facts
	events  events
	blocks  cache.Cache[blockKey, wire.Part] // of lists
	room    room
	onces   onces
	indexes indexes
	ordered ordered
}

// Written says what a write did to its object.
type Written uint8

const (
	WasStored  Written = iota // it is new, or changed
	WasMarked                 // it is to be deleted, and waits
	WasRemoved                // it is gone
)

// Request is a request for a resource, on its way through a verb.
type Request struct {
	*Backend
	HTTP    *http.Request
	Query   url.Values
	Target  api.Target
	Version *catalog.Version
	// Warnings go with the answer, whether the request succeeds or not.
	Warnings *api.Warnings
	// Annotate takes what admission notes about the request; nil takes nothing.
	Annotate func(admission.Annotation)
	// Textual tells that the JSON text of an object is enough of an answer.
	Textual bool

	name   string // of the object; that of the path, or else the body's
	listed int64  // how many bytes of stored text a list has that is held whole
	holds  int64  // for how many of them there is room
}

// Answer is the outcome of a request that succeeds.
type Answer struct {
	Code int
	// One of the two: a document, or a list of objects.
	Object managedfields.Object
	List   *List
	// Text appends the JSON text of Object, if that is known without printing it; else it is nil. It may be all that there is, if the
	// request asked for it.
	Text func(b []byte) []byte
	// Converted tells that the answer can be had as a Table or as metadata only: it is about objects of the resource.
	Converted bool
}

// List is the answer to a request for a collection.
type List struct {
	Items     []value.Value
	Version   store.Revision
	Continue  string
	Remaining int // unknown if 0
}

// Meta returns what the metadata of the list says.
func (l *List) Meta() wire.ListMeta {
	return wire.ListMeta{Version: strconv.FormatInt(int64(l.Version), 10), Continue: l.Continue, Remaining: l.Remaining}
}

// Live is a stored object as a version shows it.
type Live struct {
	managedfields.Object
	Record store.Record // its Revision is 0 if nothing is stored
	// faultless tells that nothing was found wrong with the object when it was written.
	faultless bool
	proof     catalog.Proof
	steady    bool // see settled
	heirs     int  // how many writes ago the object was read from its text, see Request.keep
}

// Exists reports whether the object is stored.
func (l Live) Exists() bool { return l.Record.Revision != 0 }

func (r *Request) context() context.Context { return r.HTTP.Context() }

// Offer returns the media types that the path of the request has.
func (r *Request) Offer() wire.Offer {
	return wire.Offer{Convert: true, Protobuf: !r.Version.Custom, CBOR: r.CBOR, Routed: !r.Version.Custom}
}

// Name returns the name of the object, which the server may have generated; "" before it is known.
func (r *Request) Name() string { return r.name }

func (r *Request) key() string { return r.Version.Key(r.Target.Namespace, r.name) }

// manager returns the field manager of the endpoint that the request writes through.
func (r *Request) manager() *managedfields.FieldManager {
	switch r.Target.Subresource {
	case "status":
		return r.Version.Status()
	case "finalize":
		return r.Version.Finalize()
	}
	if part := r.Version.Parts[r.Target.Subresource]; part != nil {
		return part()
	}
	return r.Version.Main()
}
