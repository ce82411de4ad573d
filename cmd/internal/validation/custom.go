package validation

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/structural/keywords"
	"github.com/deed-project/deed/server/structural/scale"
	"github.com/deed-project/deed/value"
)

// custom implements [types.CustomValidation].
type custom struct {
	namespaced bool
	schemas    func() schemas // compiled on first use, as many commands validate nothing
}

// schemas are those of one version, and its scale.
type schemas struct {
	structure      *structural.Schema // nil for a schema with defects
	object, status *keywords.Schema   // of whole objects, and of status subresource writes
	scale          *scale.Paths       // nil without the subresource
	rules          Rules              // nil without CEL rules
}

// Custom implements [types.Validation].
func (s Server) Custom(definition value.Value, version string) types.CustomValidation {
	compile := func() schemas {
		for v := range definition.Get("spec", "versions").Items() {
			if v.Get("name").Str() == version {
				return s.schemasOf(v)
			}
		}
		return schemas{}
	}
	return custom{definition.Get("spec", "scope").Str() == "Namespaced", sync.OnceValue(compile)}
}

// schemasOf compiles the schemas of a version.
func (s Server) schemasOf(version value.Value) schemas {
	object := version.Get("schema", "openAPIV3Schema")
	out := schemas{object: keywords.Compile(object), status: keywords.Compile(object.Get("properties", types.StatusName))}
	if structure, err := structural.Compile(object); err == nil { // others are refused elsewhere
		out.structure = structure
	}
	if declared := version.Get("subresources", "scale"); declared.Kind() == value.KindObject {
		paths := scale.PathsIn(declared)
		out.scale = &paths
	}
	if out.object.HasRules() {
		out.rules = s.checks().Rules(object)
	}
	return out
}

// Validate implements [types.CustomValidation].
func (c custom) Validate(typ *schema.Type, subresource string, live, object value.Value) types.Validated {
	if c.schemas().rules == nil && live.Equal(object) {
		return types.Validated{}
	}
	live, object, _ = identified(c.namespaced, live, object)
	checked, unchecked := c.check(object, live, subresource)
	var fresh Checked
	if len(checked.Errors) > 0 && !live.IsAbsent() {
		fresh, _ = c.check(object, value.Value{}, subresource)
	}
	return validated(typ, live, object, checked, fresh, unchecked)
}

// check returns what kube-apiserver finds in object in place of live, and what is not checked. See the form of package crd and the steps of
// package write.
func (c custom) check(object, live value.Value, subresource string) (out Checked, unchecked string) {
	var errs field.ErrorList
	ctx, s := context.Background(), c.schemas()
	if !live.IsAbsent() {
		errs = api.ValidateReplaced(object, live, c.namespaced)
	}
	errs = append(errs, api.ValidateMetadata(ctx, object, live, c.namespaced)...)
	if subresource == types.StatusName {
		errs = append(errs, s.status.Status(ctx, object, live)...)
		if s.scale != nil {
			errs = append(errs, s.scale.ValidateStatus(object)...)
		}
	} else {
		errs = append(errs, s.object.Values(ctx, object, live)...)
		if s.scale != nil {
			errs = append(errs, s.scale.Validate(object)...)
		}
		errs = append(errs, s.object.Resources(ctx, object)...)
	}
	if twice := s.structure.Duplicates(object); len(twice) > 0 && len(s.structure.Duplicates(live)) == 0 {
		errs = append(errs, keywords.Duplicates(twice)...)
	}
	if s.rules != nil {
		found, err := s.rules(errs, object, live)
		if err != nil {
			unchecked = because("the CEL rules of its definition", err)
		}
		errs, out.Warnings = append(errs, found.Errors...), found.Warnings
	}
	if len(errs) == 0 && live.IsAbsent() {
		errs = api.ValidateNew(object, c.namespaced)
	}
	if len(errs) == 0 && subresource == "" {
		out.Warnings = append(out.Warnings, api.FinalizerWarnings(object, live)...)
	}
	out.Errors = errs
	return out, unchecked
}
