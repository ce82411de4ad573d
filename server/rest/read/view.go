// Package read reads stored objects as a version shows them: single objects, lists as objects and as text, and the objects of a watch.
//
// A [Reader] has what all requests share: the store and the caches. A [View] is what one request reads through it.
package read

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Reader is what requests read through. It is safe for concurrent use.
type Reader struct {
	Store store.Store
	Now   func() time.Time
	CBOR  bool // bodies and answers may be CBOR

	recent  recent
	facts   facts
	events  events
	blocks  cache.Cache[blockKey, wire.Part] // of lists
	room    room
	onces   onces
	indexes indexes
}

// View is one request for a resource, as far as reading goes.
type View struct {
	*Reader
	HTTP    *http.Request
	Query   url.Values
	Target  api.Target
	Version *catalog.Version
	// Textual tells that the JSON text of an object is enough of an answer.
	Textual bool
	// ObjectName is the name of the object: that of the path, or else the body's.
	ObjectName string

	listed int64 // bytes of stored text of a list that is held whole
	holds  int64 // bytes of them that count for the limit of all lists
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
	// Faultless tells that nothing was found wrong with the object when it was written.
	Faultless bool
	Proof     catalog.Proof
	Settled   bool // see SettledContent
	Writes    int  // how many writes ago the object was read from its text, see View.Keep
}

// Exists reports whether the object is stored.
func (l Live) Exists() bool { return l.Record.Revision != 0 }

// Context returns the context of the request.
func (r *View) Context() context.Context { return r.HTTP.Context() }

// Offer returns the media types that the path of the request has.
func (r *View) Offer() wire.Offer {
	return wire.Offer{Convert: true, Protobuf: !r.Version.Custom, CBOR: r.CBOR, Routed: !r.Version.Custom}
}

// Key returns the key of the object.
func (r *View) Key() string { return r.Version.Key(r.Target.Namespace, r.ObjectName) }

// Replaced drops what is known of a stored text that was replaced or deleted.
func (r *View) Replaced(revision store.Revision) { r.facts.forget(revision) }

// Removed drops an object that was deleted.
func (r *View) Removed(key string) { r.recent.gone(key, r.Version.Resource) }
