package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"
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
// specification. What it returns once ctx has ended is of no use.
func validateDefinition(ctx context.Context, object, live value.Value, subresource string) field.ErrorList {
	if live.IsAbsent() {
		return validateNew(ctx, object)
	}
	if errs := tooLarge(object, live); errs != nil {
		return errs
	}
	if subresource == "status" {
		object, live = object.With("spec", value.Value{}), live.With("spec", value.Value{})
	}
	text, was := object.AppendJSON(nil), live.AppendJSON(nil)
	errs, _ := inTurn(ctx, len(text)+len(was), func() field.ErrorList { return validateReplaced(ctx, text, was, subresource) })
	return errs
}

// validateReplaced returns what the library finds wrong with the definition that a text has in the place of another one.
func validateReplaced(ctx context.Context, text, was []byte, subresource string) field.ErrorList {
	definition, err := internal(text)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	live, err := internal(was)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	if subresource == "status" {
		return validation.ValidateUpdateCustomResourceDefinitionStatus(ctx, definition, live)
	}
	return validation.ValidateCustomResourceDefinitionUpdate(ctx, definition, live)
}

// Bounds of the schemas of a definition, of all versions together. An update may keep what is larger already.
const (
	// MaxInstructions is how many instructions the programs of all patterns may have. Each takes some hundred bytes once it is compiled, and
	// a{1000} has a thousand.
	MaxInstructions = 1 << 18
	// MaxRules is how many rules in CEL there may be. The library compiles each in an environment of its own, which takes a third of a MiB
	// until the request has ended.
	MaxRules = 1024
)

// tooLarge refuses a definition whose schemas are larger than they may be, unless those of live are as large.
func tooLarge(object, live value.Value) field.ErrorList {
	now, before := sizeOf(object), sizeOf(live)
	var detail string
	switch {
	case now.rules > max(MaxRules, before.rules):
		detail = fmt.Sprintf("the schemas must have no more than %d rules together, and have %d", MaxRules, now.rules)
	case now.instructions > max(MaxInstructions, before.instructions):
		detail = fmt.Sprintf("the patterns of all schemas must have no more than %d instructions together, and have %d", MaxInstructions,
			now.instructions)
	default:
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "versions"), detail)}
}

// size is what the schemas of a definition have of what is bounded.
type size struct{ rules, instructions int64 }

func sizeOf(definition value.Value) (n size) {
	n.add(definition.Get("spec", "versions"))
	return n
}

// add adds what a part of a definition has.
func (n *size) add(part value.Value) {
	for item := range part.Items() {
		n.add(item)
	}
	for name, member := range part.Members() {
		switch {
		case name == "pattern" && member.Kind() == value.KindString:
			n.instructions += rules.PatternSize(member.Str())
		case name == "x-kubernetes-validations" && member.Kind() == value.KindList:
			n.rules += int64(member.Len())
		default:
			n.add(member)
		}
	}
}

// turns bounds the definitions that are validated at a time, by their bytes: the library takes up to a thousand times as much memory for a
// definition. The largest one that can be stored is validated alone.
var turns = semaphore.NewWeighted(mostAtOnce)

const mostAtOnce = 3 << 19 // 1.5 MiB

// inTurn calls validate for a definition of some bytes when it is its turn, or returns why the request has ended meanwhile.
func inTurn(ctx context.Context, bytes int, validate func() field.ErrorList) (field.ErrorList, error) {
	weight := int64(min(bytes, mostAtOnce))
	if err := turns.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer turns.Release(weight)
	return validate(), nil
}

// goodDefinitions are those in which the library found nothing wrong.
var goodDefinitions = memo.Of[struct{}]{Budget: 64 << 20} // nothing but a hash is kept of each

// validateNew returns what the library finds wrong with a new definition. It is not asked again about one that it found good.
func validateNew(ctx context.Context, object value.Value) (errs field.ErrorList) {
	bare := object
	for _, name := range []string{"uid", "creationTimestamp"} {
		bare = api.WithMetadata(bare, name, value.Value{})
	}
	text := bare.AppendJSON(nil)
	_, _ = goodDefinitions.Get(text, func() (_ struct{}, err error) { // the error is errs, or that the request has ended
		if errs = tooLarge(object, value.Value{}); errs == nil {
			errs, err = inTurn(ctx, len(text), func() field.ErrorList {
				definition, err := internal(text)
				if err != nil {
					return field.ErrorList{field.InternalError(nil, err)}
				}
				return validation.ValidateCustomResourceDefinition(ctx, definition)
			})
		}
		return struct{}{}, errors.Join(err, errs.ToAggregate())
	})
	return errs
}

// internal returns the definition that a text has in v1 as the library validates it.
func internal(text []byte) (*apiextensions.CustomResourceDefinition, error) {
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &v1); err != nil {
		return nil, err
	}
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, out, nil)
}
