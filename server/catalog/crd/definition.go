package crd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/tables"
	"github.com/deed-project/deed/server/memo"
	"github.com/deed-project/deed/server/structural/rules"
	"github.com/deed-project/deed/value"
)

// finalizer holds a definition until the objects of its resource are gone.
const finalizer = "customresourcecleanup.apiextensions.k8s.io"

// Definitions returns the resource customresourcedefinitions. now is the clock of managed fields.
func Definitions(now func() time.Time) *catalog.Resource {
	gvk := schema.GVK{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	r := &catalog.Resource{
		Group: gvk.Group, Plural: "customresourcedefinitions", Singular: "customresourcedefinition", Kind: gvk.Kind,
		ListKind: gvk.Kind + "List", ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
		Verbs:  []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		Stored: gvk.Version, Hashed: gvk.Group + "/v1beta1", Prefix: "/registry/apiextensions.k8s.io/customresourcedefinitions/",
		PreconditionFailed: "precondition failed",
	}
	form := &definitionForm{builtin.Form{
		GVK: gvk, Known: []string{gvk.Group + "/v1beta1"}, New: func() any { return &apiextensionsv1.CustomResourceDefinition{} },
		Default: func(object any) {
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(object.(*apiextensionsv1.CustomResourceDefinition))
		},
		Create: prepareDefinition, Update: prepareDefinitionUpdate, Validate: validateDefinition, Warn: warningsOf,
		Delete:      func(live value.Value) value.Value { return holdDefinition(live, now()) },
		Conditional: true,
	}}
	v := &catalog.Version{Resource: r, Name: gvk.Version, Form: form, New: form.New}
	v.Columns, v.Row = tables.Of(r.Plural, gvk)
	r.Versions = []*catalog.Version{v}
	builtin.AddManagers(v, now)
	return r
}

// prepareDefinition clears the status of a new definition, except for the version that is stored from the beginning.
func prepareDefinition(object value.Value) value.Value {
	names := value.Object(value.Member{Name: "kind", Value: value.String("")}, value.Member{Name: "plural", Value: value.String("")})
	object = object.With("status", value.Object(
		value.Member{Name: "acceptedNames", Value: names},
		value.Member{Name: "conditions", Value: value.Null()},
		value.Member{Name: "storedVersions", Value: value.Null()},
	))
	return withStoredVersion(api.WithMetadata(object, "generation", value.Int(1)))
}

// withStoredVersion adds the version that is stored, if there is one, to those that objects may be stored in.
func withStoredVersion(object value.Value) value.Value {
	status := object.Get("status")
	stored := slices.Collect(status.Get("storedVersions").Items())
	for v := range object.Get("spec", "versions").Items() {
		if name := v.Get("name"); v.Get("storage").Bool() && !slices.ContainsFunc(stored, name.Equal) {
			stored = append(stored, name)
			break
		}
	}
	if len(stored) == 0 {
		return object
	}
	return object.With("status", status.With("storedVersions", value.List(stored...)))
}

// prepareDefinitionUpdate keeps what the endpoint does not write as it is in live. Unlike those of other kinds, the subresource status of
// definitions writes metadata.
func prepareDefinitionUpdate(object, live value.Value, subresource string) value.Value {
	if subresource == "status" {
		return object.With("spec", live.Get("spec"))
	}
	object = object.With("status", live.Get("status"))
	if !object.Get("spec").Equal(live.Get("spec")) {
		object = api.WithMetadata(object, "generation", value.Int(live.Get("metadata", "generation").Int()+1))
	}
	return withStoredVersion(object)
}

// holdDefinition makes a definition that is deleted wait until the objects of its resource are gone. It says so before anything else
// happens.
func holdDefinition(live value.Value, now time.Time) value.Value {
	if !live.Get("metadata", "deletionTimestamp").IsAbsent() {
		return live
	}
	if !isHeld(live) {
		finalizers := slices.Collect(live.Get("metadata", "finalizers").Items())
		live = api.WithMetadata(live, "finalizers", value.List(append(finalizers, value.String(finalizer))...))
	}
	live = api.WithMetadata(live, "deletionTimestamp", value.String(now.UTC().Format(time.RFC3339)))
	pending := condition{"Terminating", "True", "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}
	return live.With("status", pending.in(live.Get("status"), now))
}

// validateDefinition returns what the library finds wrong with a definition. Of one whose status is written, it does not look at the
// specification.
func validateDefinition(ctx context.Context, object, live value.Value, subresource string) field.ErrorList {
	if live.IsAbsent() {
		return validateNew(ctx, object)
	}
	if errs := tooManyInstructions(object, live); errs != nil {
		return errs
	}
	if subresource == "status" {
		object, live = object.With("spec", value.Value{}), live.With("spec", value.Value{})
	}
	definition, err := internal(object)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	was, err := internal(live)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	if subresource == "status" {
		return validation.ValidateUpdateCustomResourceDefinitionStatus(ctx, definition, was)
	}
	return validation.ValidateCustomResourceDefinitionUpdate(ctx, definition, was)
}

// MaxInstructions is how many instructions the programs of all patterns of a definition may have together. Each takes some hundred bytes once it is
// compiled, and a{1000} has a thousand.
const MaxInstructions = 1 << 18

// tooManyInstructions refuses a definition whose patterns are too large together, unless those of live were as large.
func tooManyInstructions(object, live value.Value) field.ErrorList {
	n := instructions(object.Get("spec", "versions"))
	if n <= MaxInstructions || n <= instructions(live.Get("spec", "versions")) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "versions"), fmt.Sprintf(
		"the patterns of all schemas must have no more than %d instructions together, and have %d", MaxInstructions, n))}
}

// instructions returns how many instructions the patterns in a part of a definition have.
func instructions(part value.Value) (n int64) {
	for item := range part.Items() {
		n += instructions(item)
	}
	for name, member := range part.Members() {
		if name == "pattern" && member.Kind() == value.KindString {
			n += rules.PatternSize(member.Str())
		} else {
			n += instructions(member)
		}
	}
	return n
}

// goodDefinitions are those in which the library found nothing wrong.
var goodDefinitions = memo.Of[struct{}]{Most: 1024}

// validateNew returns what the library finds wrong with a new definition. It is not asked again about one that it found good.
func validateNew(ctx context.Context, object value.Value) (errs field.ErrorList) {
	bare := object
	for _, name := range []string{"uid", "creationTimestamp"} {
		bare = api.WithMetadata(bare, name, value.Value{})
	}
	_, _ = goodDefinitions.Get(bare.AppendJSON(nil), func() (struct{}, error) { // the error is errs
		if errs = tooManyInstructions(object, value.Value{}); errs != nil {
			return struct{}{}, errs.ToAggregate()
		}
		definition, err := internal(object)
		if err != nil {
			errs = field.ErrorList{field.InternalError(nil, err)}
		} else {
			errs = validation.ValidateCustomResourceDefinition(ctx, definition)
		}
		return struct{}{}, errs.ToAggregate()
	})
	return errs
}

// internal returns a definition as the library validates it.
func internal(object value.Value) (*apiextensions.CustomResourceDefinition, error) {
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(object.AppendJSON(nil), &v1); err != nil {
		return nil, err
	}
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, out, nil)
}
