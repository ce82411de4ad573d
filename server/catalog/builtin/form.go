package builtin

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// A form for kinds that are defined by their Go type and a few functions: definitions, and virtual resources. Other built-in kinds have
// kindForm.

// Form implements catalog.Form with a Go type. New is required. The other functions may be nil and then do nothing.
//
// A Form is immutable once its version is served. Its functions must be safe for concurrent use.
type Form struct {
	GVK schema.GVK
	// Known lists further apiVersions that objects may have.
	Known []string
	// New returns a pointer to an empty object of the Go type.
	New func() any
	// Default sets the defaults of an object of the type of New.
	Default func(object any)
	// Create and Update are PrepareCreate and PrepareUpdate of catalog.Form. Validate is both of its validations: live is absent for a new
	// object.
	Create   func(object value.Value) value.Value
	Update   func(object, live value.Value, subresource string) value.Value
	Validate func(ctx context.Context, object, live value.Value, subresource string) field.ErrorList
	// Warn returns the warnings of a valid object, as the successor of live or as a new object.
	Warn func(object, live value.Value) []string
	// Delete is PrepareDelete of catalog.Form.
	Delete func(live value.Value) value.Value
	// Conditional makes updates require a resource version.
	Conditional bool
}

// Decode decodes sent through the Go type. An object without apiVersion and kind has those of the form. The error is about a field of the
// wrong type, or about another kind.
//
// Decoding and printing drops unknown fields and fills in the zero values that the Go type prints.
func (f *Form) Decode(sent value.Value) (value.Value, []string, error) {
	return f.DecodeText(sent, sent.AppendJSON(nil))
}

// DecodeText implements [catalog.TextForm].
func (f *Form) DecodeText(sent value.Value, text []byte) (value.Value, []string, error) {
	kind, apiVersion := sent.Get("kind").Str(), sent.Get("apiVersion").Str()
	known := apiVersion == "" || apiVersion == f.GVK.APIVersion() || slices.Contains(f.Known, apiVersion)
	if kind != "" && kind != f.GVK.Kind || !known {
		return sent, nil, wrongKind(sent, f.GVK)
	}
	object := f.New()
	found, err := kjson.UnmarshalStrict(text, object)
	if err != nil {
		return sent, nil, err
	}
	decoded, err := f.Print(object)
	return decoded, kjson.Fields(found), err
}

// Complete returns object with defaults and in the form of its Go type. The error is about a field of the wrong type.
//
// It converts a map, as kube-apiserver does, and so has the texts of that conversion. They name a field of the wrong type by its path below
// the last type that decodes itself.
func (f *Form) Complete(object value.Value) (value.Value, error) {
	content, ok := object.ToAny().(map[string]any)
	if !ok {
		decoded, _, err := f.Decode(object)
		return decoded, err
	}
	typed := f.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed); err != nil {
		return object, fmt.Errorf("unable to convert unstructured object to %s: %w", f.GVK, err)
	}
	return f.Print(typed)
}

// Print returns object, which is of the Go type, with defaults.
//
// It changes object.
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

// Load returns stored, because the version is the stored one.
func (f *Form) Load(stored value.Value) (value.Value, error) { return stored, nil }

// Store returns object, because the version is the stored one.
func (f *Form) Store(object value.Value) (value.Value, error) { return object, nil }

// PrepareCreate calls f.Create.
func (f *Form) PrepareCreate(object value.Value, _ string) value.Value {
	if f.Create == nil {
		return object
	}
	return f.Create(object)
}

// PrepareUpdate keeps the generation of live and calls f.Update.
//
// So no client changes the generation. Update may count it up.
func (f *Form) PrepareUpdate(object, _, live value.Value, subresource string) value.Value {
	object = api.WithMetadata(object, "generation", live.Get("metadata", "generation"))
	if f.Update == nil {
		return object
	}
	return f.Update(object, live, subresource)
}

// ValidateCreate returns the errors of a new object.
func (f *Form) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	return f.ValidateUpdate(ctx, object, value.Value{}, "", w)
}

// ValidateUpdate returns the errors of object as the successor of live.
//
// Warnings are for valid objects of the main endpoint.
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

// WithEmpties returns object with the empty lists and maps of sent, for a built-in kind that is stored.
func (f *Form) WithEmpties(object, sent, _ value.Value, subresource string) value.Value {
	kind, known := builtin.Lookup(f.GVK)
	if !known {
		return object
	}
	sent = api.WithMetadata(sent, "creationTimestamp", value.Value{}) // which no client writes
	unwritten := "status"                                             // by the endpoint
	if subresource == "status" {
		unwritten = "spec"
	}
	return kind.Form().WithEmpties(object, sent.With(unwritten, value.Value{}))
}

// PrepareDelete calls f.Delete.
func (f *Form) PrepareDelete(live value.Value) value.Value {
	if f.Delete == nil {
		return live
	}
	return f.Delete(live)
}

// BlocksDeletion returns false.
func (f *Form) BlocksDeletion(value.Value) bool { return false }

// IgnoresOld returns false: rules of built-in kinds may compare with the old object.
func (f *Form) IgnoresOld() bool { return false }

// Unconditional reports whether an update may omit the resource version, as for most built-in kinds.
func (f *Form) Unconditional() bool { return !f.Conditional }
