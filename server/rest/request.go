// Package rest holds what the verbs of an API have in common: a [Request] for a resource, and the [Answer] to it. Both are plain data. The
// verbs are functions of a request in the packages below: read gets and lists, watch sends events, and write creates, updates, patches,
// applies and deletes. What one kind does that others do not is in the packages below registry.
package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/wire"
)

// Request is a request for a resource: what its verb is carried out on. It belongs to one goroutine.
type Request struct {
	HTTP    *http.Request
	Query   url.Values // may be nil
	Target  api.Target
	Version *catalog.Version // that the path names
	// ObjectName is the name of the object: the name in the path, or else the name that the body has or the server generates. It is empty
	// until the name is known.
	ObjectName string
	// CBOR tells that the body and the answer may be CBOR.
	CBOR bool
	// Unasked tells that admission is not asked whether the object may be deleted.
	Unasked bool
	// NoLog refuses to answer with a log, because the client wants metadata; nil if it does not.
	NoLog error
	// Textual tells that the JSON text of an object is enough of an answer.
	Textual bool
	// Warnings go with the answer, whether the request succeeds or not.
	Warnings *api.Warnings
	// Record is the request in the audit log; nil if it is not recorded.
	Record *audit.Record
	// Annotate takes what admission notes about the request; nil takes nothing.
	Annotate func(admission.Annotation)
}

// New returns a request for the version of a resource.
func New(r *http.Request, query url.Values, target api.Target, v *catalog.Version) *Request {
	return &Request{HTTP: r, Query: query, Target: target, Version: v, ObjectName: target.Name, Warnings: &api.Warnings{}}
}

// Context returns the context of the request.
func (q *Request) Context() context.Context { return q.HTTP.Context() }

// Key returns the key of the object in the store.
func (q *Request) Key() string { return q.Version.Key(q.Target.Namespace, q.ObjectName) }

// CheckKey refuses a name that no object can have, with 400, and a namespace that no key can have.
func (q *Request) CheckKey() error {
	if why := content.IsPathSegmentName(q.ObjectName); len(why) > 0 {
		return errors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", q.ObjectName, strings.Join(why, ";")))
	}
	return q.checkNamespace(q.ObjectName)
}

// CheckCollection refuses the collection of a namespace that no key can have. The error names the only object that is selected, if fields
// demand one.
func (q *Request) CheckCollection(selected fields.Selector) error {
	name, _ := selected.RequiresExactMatch("metadata.name")
	if len(content.IsPathSegmentName(name)) > 0 {
		name = ""
	}
	return q.checkNamespace(name)
}

// checkNamespace returns the error of kube-apiserver's store about the namespace ".", a 500 that shows the key. name may be empty.
func (q *Request) checkNamespace(name string) error {
	if q.Target.Namespace != "." {
		return nil
	}
	key := strings.TrimPrefix(q.Version.Key(".", name), "/registry")
	return fmt.Errorf("invalid key: %q", strings.TrimSuffix(key, "/"))
}

// IsScale reports whether the request is for the Scale of an object.
func (q *Request) IsScale() bool { return q.Target.Subresource == "scale" }

// Offer returns the media types that the path of the request has.
func (q *Request) Offer() wire.Offer {
	return wire.Offer{Convert: true, Protobuf: !q.Version.Custom, CBOR: q.CBOR, Routed: !q.Version.Custom}
}

// NotFound returns the 404 of an object that is not stored.
func (q *Request) NotFound() error {
	return errors.NewNotFound(q.Version.GroupResource(), q.ObjectName)
}
