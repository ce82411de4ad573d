package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	"github.com/deed-project/deed/server/structural/keywords"
	"github.com/deed-project/deed/value"
)

// CustomResourceDefinitions as objects: how they are prepared, validated and deleted. What their status says of names is in status.go.
//
// Validation is the library's, and can take a thousand times the memory of a definition. Three things keep that within bounds: limits on
// rules and patterns, turns for large definitions, and a cache of definitions that were found valid.

// finalizer blocks the deletion of a definition until the objects of its resource are gone.
const finalizer = "customresourcecleanup.apiextensions.k8s.io"

// Definitions returns the resource customresourcedefinitions. now is the clock of managed fields.
//
// kube-apiserver stores definitions in v1beta1, which is the version that the hash of the stored version has. Here they are stored in v1.
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
			definition := object.(*apiextensionsv1.CustomResourceDefinition)
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(definition)
			for _, v := range definition.Spec.Versions {
				if v.Schema != nil {
					dropNoItems(v.Schema.OpenAPIV3Schema)
				}
			}
		},
		Create: prepareDefinition, Update: prepareDefinitionUpdate, Validate: validateDefinition, Warn: warningsOf,
		Delete:      func(live value.Value) value.Value { return holdDefinition(live, now()) },
		Conditional: true,
	}}
	v := &catalog.Version{Resource: r, Name: gvk.Version, Form: form, New: form.New, NoStatusTable: true}
	v.Empty = sync.OnceValue(func() value.Value { return builtin.EmptyOf(v.New()) })
	v.Columns, v.Row = builtin.DefinitionTable()
	r.Versions = []*catalog.Version{v}
	builtin.AddManagers(v, now)
	return r
}

// prepareDefinition clears the status of a new definition and sets its first stored version.
//
// The members that are empty are those that the Go type of the status prints.
func prepareDefinition(object value.Value) value.Value {
	names := value.Object(value.Member{Name: "kind", Value: value.String("")}, value.Member{Name: "plural", Value: value.String("")})
	object = object.With("status", value.Object(
		value.Member{Name: "acceptedNames", Value: names},
		value.Member{Name: "conditions", Value: value.Null()},
		value.Member{Name: "storedVersions", Value: value.Null()},
	))
	return withStoredVersion(withSoundDefaults(api.WithMetadata(object, "generation", value.Int(1))))
}

// withStoredVersion adds the storage version of the spec to status.storedVersions.
//
// A version stays in storedVersions when another one becomes the stored version, because objects may still be stored in it. If several
// versions claim to be stored, which is refused later, only the first one counts.
func withStoredVersion(object value.Value) value.Value {
	status := object.Get("status")
	stored := slices.Collect(status.Get("storedVersions").Items())
	for v := range object.Get("spec", "versions").Items() {
		if !v.Get("storage").Bool() {
			continue
		}
		if name := v.Get("name"); !slices.ContainsFunc(stored, name.Equal) {
			stored = append(stored, name)
		}
		break
	}
	if len(stored) == 0 {
		return object
	}
	return object.With("status", status.With("storedVersions", value.List(stored...)))
}

// prepareDefinitionUpdate copies from live the fields that the endpoint does not write. Unlike for other kinds, the subresource status
// writes metadata.
//
// Only a change of the spec counts up the generation, and so does a default that is sent in another form than it is stored in. The main
// endpoint adds the stored version, which may be new.
func prepareDefinitionUpdate(object, live value.Value, subresource string) value.Value {
	if subresource == "status" {
		return object.With("spec", live.Get("spec"))
	}
	object = object.With("status", live.Get("status"))
	if !object.Get("spec").Equal(live.Get("spec")) {
		object = api.WithMetadata(object, "generation", value.Int(live.Get("metadata", "generation").Int()+1))
	}
	return withStoredVersion(withSoundDefaults(object))
}

// holdDefinition prepares the deletion of a definition, which waits for the objects of its resource. It adds the finalizer and the
// condition Terminating first.
//
// It sets the deletion timestamp itself, so that the steps of a delete see an object whose deletion has begun; see write.Task.Delete.
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

// validateDefinition returns the library's errors for a definition. It ignores the spec if the status is written. If ctx has ended, the
// result is meaningless.
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
	if object.Get("metadata", "deletionTimestamp").IsNull() { // a client sent the zero time, and null is read as none
		object = api.WithMetadata(object, "deletionTimestamp", value.String("0001-01-01T00:00:00Z"))
	}
	// The texts are made before the turn begins, as their length is the weight.
	text, was := object.AppendJSON(nil), live.AppendJSON(nil)
	errs, _ := inTurn(ctx, len(text)+len(was), func() field.ErrorList { return validateReplaced(ctx, text, was, subresource) })
	return errs
}

// validateReplaced returns the library's errors for the definition in text as the successor of the definition in was.
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

// Limits for the schemas of all versions of a definition together. An update may keep schemas that exceed a limit already.
const (
	// MaxInstructions limits the program instructions of all patterns. A compiled instruction takes some hundred bytes. The pattern a{1000}
	// has a thousand instructions.
	MaxInstructions = 1 << 18
	// MaxRules limits the number of CEL rules. The library compiles each rule in a separate environment, which takes a third of a MiB until
	// the request ends.
	MaxRules = 1024
)

// tooLarge refuses a definition whose schemas exceed the limits, unless the schemas of live are as large.
//
// It counts by names alone, without regard to where they are in a schema, so that it is cheap and errs on the side of too many.
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

// size counts the limited parts of the schemas of a definition.
// A pattern that does not compile counts 0, and the library refuses it.
type size struct{ rules, instructions int64 }

// sizeOf counts the limited parts of the schemas of a definition; zero for an absent one.
func sizeOf(definition value.Value) (n size) {
	n.add(definition.Get("spec", "versions"))
	return n
}

// add adds the counts of a part of a definition.
func (n *size) add(part value.Value) {
	for item := range part.Items() {
		n.add(item)
	}
	for name, member := range part.Members() {
		switch {
		case name == "pattern" && member.Kind() == value.KindString:
			n.instructions += keywords.PatternSize(member.Str())
		case name == "x-kubernetes-validations" && member.Kind() == value.KindList:
			n.rules += int64(member.Len())
		default:
			n.add(member)
		}
	}
}

// turns limits the concurrent validations of definitions by their total bytes. The library needs up to a thousand times the memory of a
// definition. The largest storable definition is validated alone.
var turns = semaphore.NewWeighted(mostAtOnce)

// mostAtOnce is the total size in bytes of the definitions that are validated at once.
const mostAtOnce = 3 << 19 // 1.5 MiB

// inTurn calls validate for a definition of the given bytes within the limit of turns. It returns an error if ctx ends first.
func inTurn(ctx context.Context, bytes int, validate func() field.ErrorList) (field.ErrorList, error) {
	// A definition that is larger than all together takes the whole weight, and so waits for all others.
	weight := int64(min(bytes, mostAtOnce))
	if err := turns.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer turns.Release(weight)
	return validate(), nil
}

// validateNew returns the library's errors for a new definition. A definition that was valid before is not validated again.
//
// Metadata that differs for each object is left out of the key: the same definition is created again and again in tests.
func validateNew(ctx context.Context, object value.Value) (errs field.ErrorList) {
	bare := object
	for _, name := range []string{"uid", "creationTimestamp"} {
		bare = api.WithMetadata(bare, name, value.Value{})
	}
	text := bare.AppendJSON(nil)
	_, _ = knownTexts.Get(text, func() (_ compiledSchemas, err error) { // the error is errs, or the end of ctx
		if errs = tooLarge(object, value.Value{}); errs == nil {
			// Only a definition without errors is cached, since Get keeps nothing if there is an error.
			errs, err = inTurn(ctx, len(text), func() field.ErrorList {
				definition, err := internal(text)
				if err != nil {
					return field.ErrorList{field.InternalError(nil, err)}
				}
				return validation.ValidateCustomResourceDefinition(ctx, definition)
			})
		}
		return compiledSchemas{}, errors.Join(err, errs.ToAggregate())
	})
	return errs
}

// internal parses a v1 definition into the internal type that the library validates.
func internal(text []byte) (*apiextensions.CustomResourceDefinition, error) {
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &v1); err != nil {
		return nil, err
	}
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, out, nil)
}
