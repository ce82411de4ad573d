package catalog

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Form is what the kind of a version makes of its objects: how they are decoded and stored, what a write may change, and what is
// wrong with them. Objects are without managed fields, which are kept beside them. Methods modify nothing and are safe for
// concurrent use.
type Form interface {
	// Decode returns what a client sent as an object of the version, with defaults, and the paths of fields that it does not
	// know, in the words of strict decoding. Objects of another kind keep what they have. The error is about metadata.
	Decode(sent value.Value) (object value.Value, unknown []string, err error)
	// Complete returns an object that admission changed, with the defaults of the version that it says it is of.
	Complete(object value.Value) (value.Value, error)
	// Load returns a stored object as the version shows it: without what is not known any more, and with the defaults of today.
	Load(stored value.Value) (value.Value, error)
	// Store returns an object of the version as it is stored.
	Store(object value.Value) (value.Value, error)
	// PrepareCreate returns object as it is created: without what the client has no say in.
	PrepareCreate(object value.Value) value.Value
	// PrepareUpdate returns object as it replaces live through a subresource, or through none: what the endpoint does not
	// write is as in live, and the generation counts what changed.
	PrepareUpdate(object, live value.Value, subresource string) value.Value
	// PrepareDelete returns live as it is while it waits to be deleted, before finalizers are looked at.
	PrepareDelete(live value.Value) value.Value
	// Holds reports whether object, which is to be deleted, must wait for more than the finalizers in its metadata.
	Holds(object value.Value) bool
	// ValidateCreate returns what is wrong with a new object, its metadata excepted.
	ValidateCreate(ctx context.Context, object value.Value) field.ErrorList
	// ValidateUpdate returns what is wrong with object in the place of live, and adds to the warnings what is wrong and was
	// before.
	ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList
	// Unconditional reports whether an update may leave out the resource version that it is based on.
	Unconditional() bool
}
