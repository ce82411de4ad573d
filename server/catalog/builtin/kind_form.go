package builtin

import (
	"context"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
)

// The form of built-in kinds. Objects are documents throughout, and the Go type is asked only for what a document cannot tell:
//
//	Decode    Held fills in defaults by the data of schema/builtin; the Go type finds unknown fields and wrong types, unless its form
//	          rules them out
//	Store     the form of the Go type, or Convert to the stored version
//	Load      the defaults that are stored late, and Convert from the stored version
//	Validate  package kinds, after WithEmpties

// kindForm implements catalog.Form for a built-in kind with the data of package schema/builtin and the rules of package kinds.
//
// It is immutable, and shares kind and hub with other versions.
type kindForm struct {
	kind  kinds.Kind    // of the version
	hub   *builtin.Kind // of the stored version
	empty func() any    // returns an empty object of the Go type
	late  func() bool   // defaultsLate of the stored version
}

// Decode returns sent in the form in which it compares with stored objects. The Go type finds unknown fields and values of the wrong type.
//
// Both the form and the Go type may find faults. Those of the Go type come first, as kube-apiserver decodes before it does anything else.
func (f *kindForm) Decode(sent value.Value) (value.Value, []string, error) {
	return f.DecodeText(sent, sent.AppendJSON(nil))
}

// DecodeText implements [catalog.TextForm].
func (f *kindForm) DecodeText(sent value.Value, text []byte) (value.Value, []string, error) {
	kind, apiVersion := sent.Get("kind").Str(), sent.Get("apiVersion").Str()
	gvk := schema.ParseGVK(apiVersion, kind)
	if _, known := builtin.Lookup(gvk); !known || kind != f.kind.GVK.Kind {
		return sent, nil, wrongKind(sent, f.kind.GVK)
	}
	if apiVersion != gvk.APIVersion() {
		sent = sent.With("apiVersion", value.String(gvk.APIVersion())) // a slash before a version of the core group
	}
	held, heldErr := f.kind.Held(sent)
	if errors.Is(heldErr, form.ErrQuantityLength) || errors.Is(heldErr, form.ErrQuantityPower) {
		return sent, nil, heldErr // the Go type would take hours to read it
	}
	unknown, err := f.strictFields(sent, text)
	if err != nil {
		return sent, nil, err
	}
	if heldErr != nil {
		return held, unknown, heldErr
	}
	// Some values are shown as the client spelled them, such as quantities.
	held = f.kind.Spelled(sent, held)
	if entries := sent.Get("metadata", "managedFields"); entries.Kind() == value.KindList && entries.Len() == 0 {
		held = api.WithMetadata(held, "managedFields", entries) // an empty list, which resets them, is not like none
	}
	return held, unknown, nil
}

// wrongKind returns the error of an object of another kind. kube-apiserver decodes it by its own Go type first, which may find a value of
// the wrong type.
func wrongKind(sent value.Value, wanted schema.GVK) error {
	kind, apiVersion := sent.Get("kind").Str(), sent.Get("apiVersion").Str()
	empty := goTypes[strings.TrimPrefix(apiVersion, "/")][kind]
	if kind == "Status" {
		empty = newOf[metav1.Status]
	}
	if empty != nil {
		text, into := sent.AppendJSON(nil), empty()
		if err := kjson.CheckCost(text, into); err != nil {
			return err
		}
		if err := kjson.Unmarshal(text, into); err != nil {
			return err
		}
	}
	return kinds.WrongKind(kind, apiVersion, wanted)
}

// strictFields returns the paths of the fields that the Go type does not have, in the order of the text of sent. The error is about a value of
// the wrong type.
//
// The form of the Go type knows most objects for right, at a tenth of the cost of decoding them. Decoding finds the faults of all others, and
// knows their words and their order.
func (f *kindForm) strictFields(sent value.Value, text []byte) ([]string, error) {
	into := f.empty()
	if f.kind.Form().Fits(sent) {
		return nil, kjson.CheckCost(text, into)
	}
	found, err := kjson.UnmarshalStrict(text, into)
	return kjson.Fields(found), err
}

// Complete returns object with defaults.
func (f *kindForm) Complete(object value.Value) (value.Value, error) { return f.kind.Held(object) }

// Print implements [catalog.PrintingForm].
func (f *kindForm) Print(object value.Value) (value.Value, error) { return f.kind.Printed(object) }

// defaultsLate reports whether kube-apiserver stores new objects of a kind without some of their defaults. Defaults are set when a request
// is decoded. Preparing the object may then remove them, such as the phase of a claim, or make others apply, such as the labels of a Job.
// Reading the object adds these defaults again. So the first write that changes nothing stores them. A HorizontalPodAutoscaler that is written in
// another version than the stored one lacks defaults of its behavior, which is an annotation there.
func defaultsLate(hub kinds.Kind) bool {
	if hub.GVK.Group == "autoscaling" {
		return true
	}
	bare := value.Object(
		value.Member{Name: "apiVersion", Value: value.String(hub.GVK.APIVersion())},
		value.Member{Name: "kind", Value: value.String(hub.GVK.Kind)},
	)
	bare = api.WithMetadata(bare, "uid", value.String("uid"))
	held, err := hub.Held(bare)
	if err != nil {
		return false
	}
	encoded, err := hub.Encoded(hub.Complete(hub.Prepare("", value.Value{}, held, held), value.Value{}, value.String("uid")))
	if err != nil {
		return false
	}
	read, err := hub.Stored(encoded)
	return err == nil && !read.Equal(encoded)
}

// Load returns a stored object in this version, as it is shown.
func (f *kindForm) Load(stored value.Value) (value.Value, error) {
	object, err := f.LoadBare(stored)
	return f.Decorate(object), err
}

// Decorate implements [catalog.DecoratedForm].
func (f *kindForm) Decorate(bare value.Value) value.Value { return f.kind.Shown(bare) }

// IsDecorated implements [catalog.DecoratedForm].
func (f *kindForm) IsDecorated() bool { return f.kind.IsDecorated() }

// LoadBare returns a stored object in this version, with the defaults that it is stored without.
func (f *kindForm) LoadBare(stored value.Value) (value.Value, error) {
	if f.late() {
		var err error
		if stored, err = f.hub.Stored(stored); err != nil {
			return stored, err
		}
	}
	if f.kind.GVK == f.hub.GVK {
		return stored, nil
	}
	return f.hub.Convert(stored, f.kind.Kind)
}

// Store returns an object of the version as it is stored, in the form of its Go type. For example, it restores the empty status that
// preparing a new object removed.
func (f *kindForm) Store(object value.Value) (value.Value, error) {
	switch {
	case f.kind.GVK == f.hub.GVK && f.late():
		return f.kind.Encoded(object)
	case f.kind.GVK == f.hub.GVK:
		return f.kind.Stored(object)
	}
	return f.kind.Convert(object, f.hub)
}

// Converts reports whether the version is not the stored one.
func (f *kindForm) Converts() bool { return f.kind.GVK != f.hub.GVK }

// StoreOver returns object as it is stored in place of had. As kube-apiserver does, it converts the object before it prepares it.
func (f *kindForm) StoreOver(object, sent, had value.Value, subresource string) (value.Value, error) {
	converted, err := f.kind.ConvertRead(object, sent, f.hub)
	if err != nil {
		return object, err
	}
	if had, err = f.hub.Stored(had); err != nil {
		return object, err
	}
	prepared := f.hub.Prepare(subresource, had, converted, converted)
	if f.kind.CountsUnprepared() { // object lacks what preparing it has dropped, and has the generation that counts that
		prepared = api.WithMetadata(prepared, "generation", object.Get("metadata", "generation"))
	}
	return prepared, nil
}

// PrepareCreate returns object as it is created. Through a subresource nothing is allocated for it.
func (f *kindForm) PrepareCreate(object value.Value, subresource string) value.Value {
	prepared := f.kind.Prepare("", value.Value{}, object, object)
	if subresource != "" {
		return prepared
	}
	return f.kind.Complete(prepared, value.Value{}, object.Get("metadata", "uid"))
}

// PrepareUpdate returns object as it replaces live. Some kinds increment the generation for an empty list or map, which only sent has.
func (f *kindForm) PrepareUpdate(object, sent, live value.Value, subresource string) value.Value {
	if sent.IsAbsent() {
		sent = object
	}
	prepared := f.kind.Prepare(subresource, live, sent, object)
	if subresource == "" {
		prepared = f.kind.Complete(prepared, live, value.Value{})
	}
	for _, name := range []string{"uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		if !f.kind.KeepsMetadata(subresource, name) { // validation refuses a change, but for the link
			prepared = api.WithMetadata(prepared, name, object.Get("metadata", name))
		}
	}
	return prepared
}

// WithEmpties returns object with the empty lists and maps of sent.
func (f *kindForm) WithEmpties(object, sent, live value.Value, subresource string) value.Value {
	return f.kind.WithEmpties(subresource, live.IsAbsent(), object, sent)
}

// ValidateEarly returns the errors that end a write before anything is allocated.
func (f *kindForm) ValidateEarly(ctx context.Context, object, live value.Value) field.ErrorList {
	return f.kind.ValidateEarly(ctx, object, live)
}

// PrepareDelete returns live.
func (f *kindForm) PrepareDelete(live value.Value) value.Value { return live }

// BlocksDeletion returns false.
func (f *kindForm) BlocksDeletion(value.Value) bool { return false }

// IgnoresOld returns false: rules of built-in kinds may compare with the old object.
func (f *kindForm) IgnoresOld() bool { return false }

// Unconditional reports whether an update may omit the resource version.
func (f *kindForm) Unconditional() bool { return !f.kind.Conditional() }

// ValidateCreate returns the errors of a new object, and adds warnings about a valid one.
func (f *kindForm) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	errs := f.kind.ValidateCreate(ctx, object)
	if len(errs) == 0 {
		if found := f.kind.Warnings(ctx, object, value.Value{}, ""); len(found) > 0 && len(api.ValidateNew(object, f.kind.Namespaced)) == 0 {
			w.Add(found...)
		}
	}
	return errs
}

// ValidateUpdate returns the errors in the own fields of object, including changes of immutable fields.
//
// A write that metadata makes fail gives no warnings.
func (f *kindForm) ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList {
	errs := f.kind.ValidateUpdate(ctx, object, live, subresource)
	if len(errs) == 0 {
		if found := f.kind.Warnings(ctx, object, live, subresource); len(found) > 0 && f.succeeds(object, live) {
			w.Add(found...)
		}
	}
	return errs
}

// succeeds reports whether the metadata of object allows that it replaces live.
func (f *kindForm) succeeds(object, live value.Value) bool {
	return api.Meta(object, "uid") == api.Meta(live, "uid") && len(api.ValidateReplaced(object, live, f.kind.Namespaced)) == 0
}
