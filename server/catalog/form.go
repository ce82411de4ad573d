package catalog

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
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
	// ValidateCreate returns what is wrong with a new object, its metadata excepted, and adds to the warnings what is not wrong and
	// may not be meant. When ctx ends it may return early: then what it returns says nothing. So may the other validations.
	ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList
	// ValidateUpdate returns what is wrong with object in the place of live, and adds to the warnings what is wrong and was
	// before, or may not be meant.
	ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList
	// Timeless reports whether an object in whose write nothing was found wrong can replace itself: then nothing is either.
	Timeless() bool
	// Unconditional reports whether an update may leave out the resource version that it is based on.
	Unconditional() bool
}

// Sparing is a Form that looks again only at what a write changes.
//
// An object is settled if it is stored in the version, and Load gives it back as it is. Parts that an object shares with a settled one, the
// same storage in the same place, need not be decoded or loaded.
type Sparing interface {
	Form
	// DecodeBeside is Decode, given a settled object.
	DecodeBeside(sent, settled value.Value) (object value.Value, unknown []string, err error)
	// LoadBeside is Load of an object of the version, given a settled one. Metadata is always looked at.
	LoadBeside(stored, settled value.Value) (value.Value, error)
	// Settles reports whether what Decode returns is settled, its metadata aside, if it is stored in the version.
	Settles() bool
	// ValidateChange is ValidateUpdate, given what is known of live, and returns what is known of object if nothing is found. Where live
	// is absent, it is ValidateCreate.
	ValidateChange(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings, was Proof) (field.ErrorList, Proof)
}

// Proof tells what is known of an object. The zero Proof tells nothing.
type Proof struct {
	Cost  int64 // not 0 if all rules in CEL hold: then at most what evaluating them costs
	Sound bool  // by keywords and formats nothing is wrong with any part of it, and no list has an item twice that must not
}

// Batch is a Form whose objects somebody else converts between versions: it is quicker to ask for many at once, and who is asked is
// told of managed fields as well.
type Batch interface {
	Form
	// LoadAll is Load for many objects. The error is about the object behind the last one that is returned.
	LoadAll(stored []managedfields.Object) ([]value.Value, error)
	// StoreWhole is Store for an object with its managed fields.
	StoreWhole(object managedfields.Object) (value.Value, error)
	// Convert returns an object of any version in this one.
	Convert(object value.Value) (value.Value, error)
}

// Load returns a stored object as a form shows it.
func Load(f Form, stored managedfields.Object) (value.Value, error) {
	batch, ok := f.(Batch)
	if !ok {
		return f.Load(stored.Content)
	}
	loaded, err := batch.LoadAll([]managedfields.Object{stored})
	if err != nil {
		return stored.Content, err
	}
	return loaded[0], nil
}

// Store returns an object of a form as it is stored.
func Store(f Form, object managedfields.Object) (value.Value, error) {
	if batch, ok := f.(Batch); ok {
		return batch.StoreWhole(object)
	}
	return f.Store(object.Content)
}
