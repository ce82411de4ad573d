package builtin

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Form is what a kind that is a Go type makes of its objects: catalog.Form. New is required; of the other functions, those that
// are nil do nothing.
type Form struct {
	GVK schema.GVK
	// Known are the apiVersions in which the kind is known beside its own.
	Known []string
	// New returns a pointer to an empty object of the Go type.
	New func() any
	// Default fills in defaults; it gets what New returned.
	Default func(object any)
	// Create and Update are those of catalog.Form, and Validate both of its validations: live is absent for a new object.
	Create   func(object value.Value) value.Value
	Update   func(object, live value.Value, subresource string) value.Value
	Validate func(ctx context.Context, object, live value.Value, subresource string) field.ErrorList
	// Warn returns what an object with which nothing is wrong is warned of, in the place of live or as a new one.
	Warn func(object, live value.Value) []string
	// Delete is PrepareDelete of catalog.Form.
	Delete func(live value.Value) value.Value
	// Conditional tells that an update must say what it is based on.
	Conditional bool
}

// Decode returns what the Go type makes of what was sent. An object without apiVersion and kind is of the form's. The error is
// about a field of the wrong type, or about another kind.
func (f *Form) Decode(sent value.Value) (value.Value, []string, error) {
	kind, apiVersion := sent.Get("kind").Str(), sent.Get("apiVersion").Str()
	known := apiVersion == "" || apiVersion == f.GVK.APIVersion() || slices.Contains(f.Known, apiVersion)
	if kind != "" && kind != f.GVK.Kind || !known {
		return sent, nil, unregistered(kind, apiVersion)
	}
	object := f.New()
	found, err := kjson.UnmarshalStrict(sent.AppendJSON(nil), object)
	if err != nil {
		return sent, nil, err
	}
	decoded, err := f.Print(object)
	return decoded, kjson.Fields(found), err
}

// Complete returns object as the Go type prints it, with defaults.
func (f *Form) Complete(object value.Value) (value.Value, error) {
	decoded, _, err := f.Decode(object)
	return decoded, err
}

// Print returns object, of the Go type, with defaults.
func (f *Form) Print(object any) (value.Value, error) {
	if f.Default != nil {
		f.Default(object)
	}
	v, err := structs.From(object)
	if err != nil {
		return v, err
	}
	return v.With("apiVersion", value.String(f.GVK.APIVersion())).With("kind", value.String(f.GVK.Kind)), nil
}

// Load returns the stored object, which is stored as the version has it.
func (f *Form) Load(stored value.Value) (value.Value, error) { return stored, nil }

// Store returns the object: it is stored as the version has it.
func (f *Form) Store(object value.Value) (value.Value, error) { return object, nil }

// PrepareCreate returns object as it is created.
func (f *Form) PrepareCreate(object value.Value) value.Value {
	if f.Create == nil {
		return object
	}
	return f.Create(object)
}

// PrepareUpdate returns object as it replaces live.
func (f *Form) PrepareUpdate(object, live value.Value, subresource string) value.Value {
	object = api.WithMetadata(object, "generation", live.Get("metadata", "generation"))
	if f.Update == nil {
		return object
	}
	return f.Update(object, live, subresource)
}

// ValidateCreate returns what is wrong with a new object.
func (f *Form) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	return f.ValidateUpdate(ctx, object, value.Value{}, "", w)
}

// ValidateUpdate returns what is wrong with object in the place of live.
func (f *Form) ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList {
	var errs field.ErrorList
	if f.Validate != nil {
		errs = f.Validate(ctx, object, live, subresource)
	}
	if len(errs) == 0 && f.Warn != nil && subresource == "" {
		w.Add(f.Warn(object, live)...)
	}
	return errs
}

// PrepareDelete returns live as it is while it waits to be deleted.
func (f *Form) PrepareDelete(live value.Value) value.Value {
	if f.Delete == nil {
		return live
	}
	return f.Delete(live)
}

// Holds returns false.
func (f *Form) Holds(value.Value) bool { return false }

// Timeless returns false: rules of built-in kinds may ask what was before.
func (f *Form) Timeless() bool { return false }

// Unconditional reports whether an update may leave out what it is based on, as most built-in kinds let it.
func (f *Form) Unconditional() bool { return !f.Conditional }
