package write

import (
	"context"
	"net/http"
	"net/url"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
)

// MaxBody is the size that a body may have, as in kube-apiserver.
const MaxBody = 3 << 20

// Backend is what verbs work on. It is safe for concurrent use.
type Backend struct {
	Reader *read.Reader
	// Admission decides about writes; the zero Chain admits everything.
	Admission admission.Chain
	// User returns the user for admission; nil tells nothing.
	User func(context.Context) admission.User
	// Alike returns the versions in which the objects of a resource are served: by this resource, and by resources of other groups that
	// share the stored objects. Nil stands for the versions of the resource.
	Alike func(*catalog.Resource) []*catalog.Version
	// Resources returns a resource that is served, nil if it is not. It may be nil if no pod is evicted.
	Resources func(kschema.GroupResource) *catalog.Resource
	// Stored is called after each write to a resource; nil is not called.
	Stored func(context.Context, *Request, Written)

	// MaxObject is how many bytes a write of one object to the store may have; 0 is DefaultMaxObject.
	MaxObject int
	// EventTTL is how long objects of resources with a TTL are kept after they were last written; 0 is for ever.
	EventTTL time.Duration

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
	read.View
	*Backend
	// Warnings go with the answer, whether the request succeeds or not.
	Warnings *api.Warnings
	// Annotate takes what admission notes about the request; nil takes nothing.
	Annotate func(admission.Annotation)
}

// New returns a request. Its Query may be nil, and so may its Annotate and Textual be set later.
func (b *Backend) New(r *http.Request, query url.Values, target api.Target, v *catalog.Version) *Request {
	return &Request{
		View:    read.View{Reader: b.Reader, HTTP: r, Query: query, Target: target, Version: v},
		Backend: b, Warnings: &api.Warnings{},
	}
}

// Name returns the name of the object, which the server may have generated; "" before it is known.
func (r *Request) Name() string { return r.ObjectName }

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
