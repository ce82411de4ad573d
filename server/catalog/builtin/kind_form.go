package builtin

import (
	"context"
	"errors"
	"fmt"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog/validation"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/value"
)

// kindForm implements catalog.Form for a built-in kind with the data of package schema/builtin.
type kindForm struct {
	kind, hub    *builtin.Kind // of the version, and of the stored version
	empty        func() any    // returns an empty object of the Go type
	name         apivalidation.ValidateNameFunc
	conditional  bool
	anyFinalizer bool // finalizers need not be known or qualified

	rules   validation.Kind // validation and warnings
	checked bool            // rules validates objects, instead of package schema/builtin
}

// Decode returns sent in the form in which it compares with stored objects. The Go type finds unknown fields and values of the wrong type.
func (f *kindForm) Decode(sent value.Value) (value.Value, []string, error) {
	kind, apiVersion := sent.Get("kind").Str(), sent.Get("apiVersion").Str()
	if _, known := builtin.Lookup(schema.ParseGVK(apiVersion, kind)); !known || kind != f.kind.GVK.Kind {
		return sent, nil, unregistered(kind, apiVersion)
	}
	held, heldErr := f.kind.Held(sent)
	if errors.Is(heldErr, form.ErrQuantityLength) {
		return sent, nil, heldErr // the Go type would take hours to read it
	}
	found, err := kjson.UnmarshalStrict(sent.AppendJSON(nil), f.empty())
	if err != nil {
		return sent, nil, err
	}
	unknown := kjson.Fields(found)
	if heldErr != nil {
		return held, unknown, heldErr
	}
	held = f.kind.Spelled(sent, held)
	if entries := sent.Get("metadata", "managedFields"); entries.Kind() == value.KindList && entries.Len() == 0 {
		held = api.WithMetadata(held, "managedFields", entries) // an empty list, which resets them, is not like none
	}
	return held, unknown, nil
}

// unregistered is kube-apiserver's error about an unknown kind.
func unregistered(kind, apiVersion string) error {
	return fmt.Errorf(`no kind %q is registered for version %q in scheme "pkg/runtime/scheme.go:111"`, kind, apiVersion)
}

// Complete returns object with defaults.
func (f *kindForm) Complete(object value.Value) (value.Value, error) { return f.kind.Held(object) }

// Load returns a stored object in this version.
func (f *kindForm) Load(stored value.Value) (value.Value, error) {
	if f.kind.GVK == f.hub.GVK {
		return stored, nil
	}
	return f.hub.Convert(stored, f.kind)
}

// Store returns an object of the version as it is stored, in the form of its Go type. For example, it restores the empty status that
// preparing a new object removed.
func (f *kindForm) Store(object value.Value) (value.Value, error) {
	if f.kind.GVK == f.hub.GVK {
		return f.kind.Stored(object)
	}
	return f.kind.Convert(object, f.hub)
}

// PrepareCreate returns object as it is created.
func (f *kindForm) PrepareCreate(object value.Value) value.Value {
	if f.kind.GVK == pod {
		object = withPodResources(object)
	}
	prepared := f.kind.Prepare("", value.Value{}, object, object)
	switch f.kind.GVK.Kind {
	case "Job":
		return withSelector(prepared, object.Get("metadata", "uid"))
	case "LimitRange":
		return withName(prepared)
	case "Service":
		return withFamilies(prepared, value.Value{})
	}
	return prepared
}

// withName returns object with a UID as its name, unless it has a name.
func withName(object value.Value) value.Value {
	if api.Meta(object, "name") != "" {
		return object
	}
	return api.WithMetadata(object, "name", value.String(api.NewUID()))
}

// PrepareUpdate returns object as it replaces live. Some kinds increment the generation for an empty list. The field manager counted it
// while the list still existed, so that its result is kept.
func (f *kindForm) PrepareUpdate(object, live value.Value, subresource string) value.Value {
	prepared := f.kind.Prepare(subresource, live, object, object)
	if subresource == "" && f.kind.GVK.Kind == "Service" {
		prepared = withFamilies(prepared, live)
	}
	for _, name := range []string{"uid", "deletionTimestamp"} { // kept so that validation can refuse a change
		if sent := object.Get("metadata", name); subresource == "" && !sent.IsAbsent() {
			prepared = api.WithMetadata(prepared, name, sent)
		}
	}
	counted := object.Get("metadata", "generation")
	if f.kind.EmptyCounter() != nil && counted.Int() == live.Get("metadata", "generation").Int()+1 {
		return api.WithMetadata(prepared, "generation", counted)
	}
	return prepared
}

// PrepareDelete returns live.
func (f *kindForm) PrepareDelete(live value.Value) value.Value { return live }

// Holds returns false.
func (f *kindForm) Holds(value.Value) bool { return false }

// Timeless returns false: rules of built-in kinds may compare with the old object.
func (f *kindForm) Timeless() bool { return false }

// Unconditional reports whether an update may omit the resource version.
func (f *kindForm) Unconditional() bool { return !f.conditional }

// ValidateCreate returns the errors of a new object: in its name, by the name rule of the kind, in its finalizers, and in its own fields.
func (f *kindForm) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	errs := f.own(ctx, object, value.Value{}, "")
	if !f.rules.IsBare() || len(errs) == 0 {
		of := append(api.ValidateNamed(object, f.kind.Namespaced, f.nameRule(object)), f.finalizers(object)...)
		errs = append(of, errs...)
	}
	if len(errs) == 0 {
		w.Add(f.rules.Warnings(ctx, object, value.Value{})...)
	}
	return errs
}

// ValidateUpdate returns the errors in the own fields of object, including changes of immutable fields.
func (f *kindForm) ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList {
	errs := append(f.finalizers(object), f.own(ctx, object, live, subresource)...)
	if whole := subresource == "" || subresource == "scale"; len(errs) == 0 && whole {
		w.Add(f.rules.Warnings(ctx, object, live)...)
	}
	return errs
}

// finalizers returns the errors in the finalizers of object.
func (f *kindForm) finalizers(object value.Value) field.ErrorList {
	if f.anyFinalizer {
		return nil
	}
	return api.ValidateFinalizers(object)
}

// own returns the errors in the own fields of object. The rules are those of package validation or of schema/builtin. The latter cover more
// kinds with fewer rules each.
func (f *kindForm) own(ctx context.Context, object, live value.Value, subresource string) field.ErrorList {
	if f.checked && (subresource == "" || subresource == "scale") {
		return f.rules.Refused(ctx, object, live)
	}
	errs := refusals(f.kind.Refusals(live, object, subresource))
	if f.kind.GVK.Group == "" {
		errs = append(errs, validation.DataTooLong(f.kind.GVK.Kind, object)...)
	}
	if f.kind.GVK.Kind == "Event" && (live.IsAbsent() || f.kind.GVK.Group == "") {
		errs = append(errs, validation.EventElsewhere(object)...)
	}
	return errs
}

// refusals converts refusals to a field.ErrorList.
func refusals(refused []builtin.Refusal) field.ErrorList {
	var out field.ErrorList
	for _, r := range refused {
		path := pathOf(r)
		switch r.Reason {
		case builtin.Required:
			out = append(out, field.Required(path, r.Detail))
		case builtin.Forbidden:
			out = append(out, field.Forbidden(path, r.Detail))
		case builtin.Duplicate:
			out = append(out, field.Duplicate(path, r.Value.ToAny()))
		case builtin.Unsupported:
			out = append(out, field.NotSupported(path, validation.Enumeration(r.Value.Str()), r.Values))
		case builtin.Invalid:
			if !r.Unshown {
				out = append(out, field.Invalid(path, r.Value.ToAny(), r.Detail))
			}
		}
	}
	return out
}

// pathOf returns the path of a refusal.
func pathOf(r builtin.Refusal) *field.Path {
	var path *field.Path
	for _, step := range r.Path {
		switch {
		case step.Kind() == fieldpath.KindIndex:
			path = path.Index(step.Index())
		case path == nil:
			path = field.NewPath(step.Name())
		default:
			path = path.Child(step.Name())
		}
	}
	if r.Key != "" {
		path = path.Key(r.Key)
	}
	return path
}
