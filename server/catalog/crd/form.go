package crd

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/structural/keywords"
	"github.com/deed-project/deed/server/structural/rules"
	"github.com/deed-project/deed/value"
)

// Custom resources in one version, as the schema of the version has them. The life of an object, and which schema applies:
//
//	request     Decode          the schema of the version that the object states: prune, default
//	update      PrepareUpdate   no schema: status and the rest are written by different endpoints
//	            ValidateChange  this version: values, metadata, lists, CEL
//	storage     Store, Load     Load prunes and defaults by the stored version, and then converts by renaming

// schemas gives access to the schema operations that skip unchanged parts of objects.
var schemas = door.Open(structural.Internal{})

// form implements catalog.Form for one version of a custom resource.
//
// It is immutable. Its maps are shared by the forms of all versions.
type form struct {
	group, kind, version string
	storage              custom.Storage
	versions             managedfields.Converter // between all versions, by renaming
	status               bool                    // the subresource exists
	scale                *catalog.Scale
	namespaced           bool
	rules                *rules.Rules
}

// prepare compiles the CEL rules of the version in the background, which the first write would otherwise wait for.
func (f *form) prepare() { f.rules.Prepare() }

// schema returns the schema of the version.
func (f *form) schema() *structural.Schema { return f.storage.Schemas[f.version] }

// Decode returns sent, pruned and with the defaults of the version that it states.
func (f *form) Decode(sent value.Value) (value.Value, []string, error) {
	return f.DecodeIncremental(sent, value.Value{})
}

// DecodeIncremental is Decode, given a settled object.
//
// An object of another kind is decoded as far as its metadata, since there is no schema for it. A later step refuses it.
func (f *form) DecodeIncremental(sent, settled value.Value) (value.Value, []string, error) {
	gvk := schema.ParseGVK(sent.Get("apiVersion").Str(), sent.Get("kind").Str())
	if gvk.Group != f.group || gvk.Kind != f.kind {
		if sent.Get("metadata").IsAbsent() {
			return sent, nil, nil
		}
		metadata, unknown, err := structural.Metadata(sent.Get("metadata"))
		if err != nil {
			return sent, nil, err
		}
		return sent.With("metadata", metadata), unknown, nil
	}
	if gvk.Version != f.version {
		// The object is settled in this version, and pruned by this schema.
		settled = value.Value{}
	}
	object, unknown, err := schemas.Decode(f.storage.Schemas[gvk.Version], sent, settled)
	if err != nil {
		return sent, nil, err
	}
	return object, unknown, nil
}

// Complete returns object with the defaults of the version that it states.
func (f *form) Complete(object value.Value) (value.Value, error) {
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	if gvk.Group != f.group || gvk.Kind != f.kind {
		return object, nil
	}
	// A version without a schema has no defaults.
	return f.storage.Schemas[gvk.Version].Default(object), nil
}

// Load returns a stored object in this version.
func (f *form) Load(stored value.Value) (value.Value, error) {
	return f.storage.Load(stored, f.version)
}

// LoadIncremental is Load of an object of this version, given a settled object.
func (f *form) LoadIncremental(stored, settled value.Value) (value.Value, error) {
	return schemas.Load(f.schema(), stored, settled)
}

// DecodesSettled reports whether the result of Decode is settled.
func (f *form) DecodesSettled() bool { return schemas.DecodesSettled(f.schema()) }

// Store returns an object of this version in the stored version.
func (f *form) Store(object value.Value) (value.Value, error) {
	return f.storage.Store(object, f.version)
}

// PrepareCreate removes the status, if the subresource exists, and sets the generation to 1.
func (f *form) PrepareCreate(object value.Value, _ string) value.Value {
	if f.status {
		object = object.With("status", value.Value{})
	}
	return api.WithMetadata(object, "generation", value.Int(1))
}

// PrepareUpdate lets the subresource status write only the status, and other endpoints everything else. The generation increments for
// changes outside metadata, but not for writes of the status.
//
// A write of the status takes nothing else from the client, not even metadata.
func (f *form) PrepareUpdate(object, _, live value.Value, subresource string) value.Value {
	if subresource == "status" {
		return live.With("status", object.Get("status"))
	}
	if f.status {
		object = object.With("status", live.Get("status"))
	}
	generation := live.Get("metadata", "generation")
	// Changes of metadata alone do not count.
	if !object.With("metadata", value.Value{}).Equal(live.With("metadata", value.Value{})) {
		generation = value.Int(generation.Int() + 1)
	}
	return api.WithMetadata(object, "generation", generation)
}

// PrepareDelete returns live.
func (f *form) PrepareDelete(live value.Value) value.Value { return live }

// BlocksDeletion returns false.
func (f *form) BlocksDeletion(value.Value) bool { return false }

// Unconditional returns false.
func (f *form) Unconditional() bool { return false }

// IgnoresOld reports whether no rule refers to an old value.
func (f *form) IgnoresOld() bool { return f.rules.IgnoresOld() }

// ValidateCreate returns the errors of a new object.
func (f *form) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	return f.ValidateUpdate(ctx, object, value.Value{}, "", w)
}

// ValidateUpdate returns the errors of object as the successor of live.
func (f *form) ValidateUpdate(ctx context.Context, object, live value.Value, subresource string, w *api.Warnings) field.ErrorList {
	errs, _ := f.ValidateChange(ctx, object, live, subresource, w, catalog.Evidence{})
	return errs
}

// ValidateChange returns the errors of object as the successor of live. was is the evidence of validation of live.
//
// Evidence of live shortens the work. Parts that object shares with a sound live have no errors, and rules about unchanged fields hold at
// the cost that they had. The evidence that it returns is of object; after an error it is not used.
//
// The order of errors is kube-apiserver's: type, or else metadata, values, scale, embedded resources, lists, CEL rules.
func (f *form) ValidateChange(
	ctx context.Context, object, live value.Value, subresource string, w *api.Warnings, was catalog.Evidence,
) (field.ErrorList, catalog.Evidence) {
	var sound value.Value // live, if it is known to be sound
	if was.Sound {
		sound = live
	}
	var proof catalog.Evidence
	errs := f.validateType(object)
	if len(errs) > 0 { // metadata and values are then not checked
		if subresource != "status" {
			errs = append(errs, f.rules.Resources(ctx, object)...)
		}
		if len(f.duplicates(live, sound)) == 0 {
			errs = append(errs, f.duplicates(object, sound)...)
		}
		errs, _ = f.rules.CELChange(ctx, errs, object, live, w, was.Cost)
		return errs, proof
	}
	errs = api.ValidateMetadata(ctx, object, live, f.namespaced)
	if subresource == "status" {
		proof.Sound = was.Sound && f.rules.Sound(ctx, object, sound)
		errs = append(errs, f.rules.StatusValues(ctx, object, live)...)
		errs = append(errs, f.scale.ValidateStatus(object)...)
	} else {
		values, good := f.rules.ValuesChange(ctx, object, live, sound)
		proof.Sound = good
		errs = append(errs, values...)
		errs = append(errs, f.scale.Validate(object)...)
		errs = append(errs, f.rules.Resources(ctx, object)...)
	}
	// Duplicates that live has already are not refused.
	if twice := f.duplicates(object, sound); len(twice) > 0 {
		proof.Sound = false
		if len(f.duplicates(live, sound)) == 0 {
			errs = append(errs, twice...)
		}
	}
	errs, proof.Cost = f.rules.CELChange(ctx, errs, object, live, w, was.Cost)
	return errs, proof
}

// validateType returns the errors in the kind and apiVersion of object.
//
// Decode lets objects of another kind or version pass, so they are refused here, with 422.
func (f *form) validateType(object value.Value) field.ErrorList {
	var errs field.ErrorList
	if kind := object.Get("kind").Str(); kind != f.kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, fmt.Sprintf("must be %v", f.kind)))
	}
	if v := object.Get("apiVersion").Str(); v != f.group+"/"+f.version {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), v, fmt.Sprintf("must be %v", f.group+"/"+f.version)))
	}
	return errs
}

// duplicates returns the duplicate items in lists of type set or map. It skips parts that object shares with known, which has no
// duplicates.
func (f *form) duplicates(object, known value.Value) field.ErrorList {
	return keywords.Duplicates(schemas.Duplicates(f.schema(), object, known))
}
