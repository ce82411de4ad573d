package catalog

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Form is the logic of a kind in one version, like a strategy in kube-apiserver: it decodes, defaults, stores, updates and validates
// objects. Its objects lack managed fields, which are kept separately. Methods modify nothing and are safe for concurrent use.
type Form interface {
	// Decode returns the object that a client sent, with defaults, and the paths of its unknown fields as strict decoding errors. It does
	// not prune or default an object of another kind. The error is about metadata.
	Decode(sent value.Value) (object value.Value, unknown []string, err error)
	// Complete returns an object that admission changed, with the defaults of the version that the object states.
	Complete(object value.Value) (value.Value, error)
	// Load returns a stored object in this version, without fields that are no longer in the schema and with the current defaults.
	Load(stored value.Value) (value.Value, error)
	// Store returns an object of the version in its stored form.
	Store(object value.Value) (value.Value, error)
	// PrepareCreate returns object as it is created through a subresource, or through the main endpoint if that is "", without the fields that
	// clients cannot set.
	PrepareCreate(object value.Value, subresource string) value.Value
	// PrepareUpdate returns object, which was read from sent, as it replaces live through a subresource, or through the main endpoint if
	// that is "". It copies from live the fields that the endpoint does not write, and increments the generation if necessary.
	PrepareUpdate(object, sent, live value.Value, subresource string) value.Value
	// PrepareDelete returns live as it is while its deletion is pending. It runs before the finalizers are checked.
	PrepareDelete(live value.Value) value.Value
	// BlocksDeletion reports whether the deletion of object must wait for more than the finalizers in its metadata.
	BlocksDeletion(object value.Value) bool
	// ValidateCreate returns the errors of a new object except those of its metadata. It adds warnings to w for valid fields that are
	// probably mistakes. When ctx ends it may return early, and its result is then meaningless. The same holds for the other validations.
	ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList
	// ValidateUpdate returns the errors of object as the successor of live. It adds warnings to w for errors that live already had, and for
	// probable mistakes.
	ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList
	// IgnoresOld reports whether validation depends on the objects only. If so, a valid object can replace itself without new errors.
	IgnoresOld() bool
	// Unconditional reports whether an update may omit the resource version.
	Unconditional() bool
}

// HoldingForm is a Form whose objects are Go values in kube-apiserver. Validation there sees empty lists and maps that JSON leaves out, and
// shows them in refusals.
type HoldingForm interface {
	Form
	// WithEmpties returns object with the empty lists and maps of sent, from which it was made for a write through a subresource, or the
	// main endpoint if that is "". Only validation may use the result. An absent live means that the object is new.
	WithEmpties(object, sent, live value.Value, subresource string) value.Value
}

// ConvertedForm is a Form of a version that objects are converted from before they are stored.
type ConvertedForm interface {
	Form
	// Converts reports whether the version is not the stored one.
	Converts() bool
	// StoreOver returns object in the form in which it is stored in place of had. It is written through a subresource, or through the main
	// endpoint if that is "". The fields that the endpoint does not write, and the generation, come from had: this version may not show all
	// of it. object was read from sent, which is absent if it is not known.
	StoreOver(object, sent, had value.Value, subresource string) (value.Value, error)
}

// DecoratedForm is a Form whose Load may show objects otherwise than they are stored. A write begins with what is stored.
type DecoratedForm interface {
	Form
	// IsDecorated reports whether Load shows some objects otherwise than they are stored.
	IsDecorated() bool
	// LoadBare is Load without such changes.
	LoadBare(stored value.Value) (value.Value, error)
	// Decorate returns what Load shows of an object that LoadBare returned.
	Decorate(bare value.Value) value.Value
}

// PrintingForm is a Form of objects with Go types, which print members that have no value.
type PrintingForm interface {
	Form
	// Print returns an object of the version as it is printed. Defaults that it lacks are not added.
	Print(object value.Value) (value.Value, error)
}

// TextForm is a Form that decodes texts: it finds faults in the order of the text.
type TextForm interface {
	Form
	// DecodeText is Decode of an object that was read from a JSON text.
	DecodeText(sent value.Value, text []byte) (object value.Value, unknown []string, err error)
}

// EarlyForm is a Form with errors that end a write before anything is allocated for the object.
type EarlyForm interface {
	Form
	// ValidateEarly returns these errors of a write to the main endpoint. They come alone, before ValidateCreate or ValidateUpdate is called.
	ValidateEarly(ctx context.Context, object, live value.Value) field.ErrorList
}

// IncrementalForm is a Form that can limit its work to the parts of an object that a write changes.
//
// An object is settled if it is stored in the version and Load returns it unchanged. An object may share parts with a settled object, with
// the same storage in the same place. These parts need no decoding or loading.
type IncrementalForm interface {
	Form
	// DecodeIncremental is Decode, given a settled object.
	DecodeIncremental(sent, settled value.Value) (object value.Value, unknown []string, err error)
	// LoadIncremental is Load of an object of the version, given a settled object. It always processes the metadata.
	LoadIncremental(stored, settled value.Value) (value.Value, error)
	// DecodesSettled reports whether the result of Decode, metadata aside, is settled if it is stored in the version.
	DecodesSettled() bool
	// ValidateChange is ValidateUpdate, given the evidence of validation of live. If it finds no error, it returns the evidence for object.
	// If live is absent, it is ValidateCreate.
	ValidateChange(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings, was Evidence) (field.ErrorList, Evidence)
}

// Evidence shows that an object was validated. The zero Evidence is no evidence.
type Evidence struct {
	Cost  int64 // not 0 if all CEL rules hold: an upper bound for the cost of evaluating them
	Sound bool  // all parts satisfy keywords and formats, and no list has a forbidden duplicate
}

// Batch is a Form whose conversions between versions run in a webhook. One call for many objects costs less than many calls, and the
// webhook also receives the managed fields.
type Batch interface {
	Form
	// LoadAll is Load for many objects. If there is an error, it is about the object that follows the returned ones.
	LoadAll(stored []managedfields.Object) ([]value.Value, error)
	// StoreWhole is Store for an object with its managed fields.
	StoreWhole(object managedfields.Object) (value.Value, error)
	// Convert returns an object of any version in this version.
	Convert(object value.Value) (value.Value, error)
}

// Load returns a stored object in the version of f.
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

// Store returns an object of the version of f in its stored form.
func Store(f Form, object managedfields.Object) (value.Value, error) {
	if batch, ok := f.(Batch); ok {
		return batch.StoreWhole(object)
	}
	return f.Store(object.Content)
}
