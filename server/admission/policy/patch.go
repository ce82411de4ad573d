package policy

import (
	"context"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	jsonpatchlibrary "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/jsonpatch"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// patcher changes the object of a view by one mutation of a policy.
type patcher struct {
	*evaluation
	view      *view
	of        invocation
	bindings  cel.OptionalVariableBindings
	namespace *corev1.Namespace
	evaluator cel.MutatingEvaluator
}

// result evaluates the expression of the mutation.
func (p *patcher) result(ctx context.Context) (ref.Val, error) {
	if errs := p.evaluator.CompilationErrors(); len(errs) > 0 {
		return nil, stderrors.Join(errs...)
	}
	result, _, err := p.evaluator.ForInput(ctx, p.view.attributes, p.view.request(p.of.at.Resource), p.bindings, p.namespace,
		celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	return result.EvalResult, result.Error
}

// applyConfiguration returns the object merged with the configuration that the expression makes. No field is removed, and no manager owns
// the fields of the configuration: the merge is that of a server-side apply without its managed fields.
func (p *patcher) applyConfiguration(ctx context.Context) (value.Value, error) {
	result, err := p.result(ctx)
	if err != nil {
		return value.Value{}, err
	}
	object, ok := result.(*dynamic.ObjectVal)
	if !ok {
		return value.Value{}, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", result.Type())
	}
	if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return value.Value{}, fmt.Errorf("type mismatch: %w", err)
	}
	members, ok := object.Value().(map[string]any)
	if !ok {
		return value.Value{}, fmt.Errorf("invalid return type: %T", result)
	}
	merged, err := p.merge(members)
	if err != nil {
		return value.Value{}, fmt.Errorf("error applying patch: %w", err)
	}
	if err := p.q.Scope.Mutable(p.view.at, merged); err != nil {
		return value.Value{}, err
	}
	_, defaulted, err := p.q.Scope.Read(merged.AppendJSON(nil), p.view.at)
	return defaulted, err
}

// merge returns the object with the members of a configuration laid over it.
func (p *patcher) merge(members map[string]any) (value.Value, error) {
	t, err := p.q.Scope.Type(p.view.at)
	if err == nil {
		err = checkNulls("", t, members)
	}
	if err != nil {
		return value.Value{}, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	config, err := value.FromAny(members)
	if err != nil {
		return value.Value{}, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	config = config.With("apiVersion", p.view.object.Get("apiVersion")).With("kind", p.view.object.Get("kind"))
	patch, err := typed.New(config, t)
	if err != nil {
		return value.Value{}, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if found := atomics(nil, "", t, config); len(found) > 0 {
		return value.Value{}, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(found, ", "))
	}
	live, err := typed.New(p.view.object, t, typed.AllowDuplicates)
	if err != nil {
		return value.Value{}, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	merged, err := typed.Merge(live, patch)
	if err != nil {
		return value.Value{}, fmt.Errorf("failed to merge patch: %w", err)
	}
	return merged.Content(), nil
}

// checkNulls returns an error if a configuration has a null. The nulls of CEL are numbers to the library that kube-apiserver merges with, and
// its text shows them so.
func checkNulls(path string, t *schema.Type, v any) error {
	switch v := v.(type) {
	case structpb.NullValue:
		wrong, got := value.String(""), "&{NULL_VALUE}"
		if t.Scalar() != schema.None {
			wrong, got = value.List(), "&value.valueUnstructured{Value:0}"
		}
		if _, err := typed.New(wrong, t); err != nil {
			expected, _, _ := strings.Cut(err.Error(), ", got ")
			return fmt.Errorf("%s: %s, got %s", path, expected, got)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of, _ := t.Map().Lookup(name)
			if err := checkNulls(path+fieldpath.Field(name).String(), of, v[name]); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range v {
			if err := checkNulls(path+"["+strconv.Itoa(i)+"]", t.List().Element(), item); err != nil {
				return err
			}
		}
	}
	return nil
}

// atomics appends the paths of the atomic lists and objects in a configuration to found. A configuration may not set them, because it would
// replace them as a whole. Like kube-apiserver, it does not look into the values of maps whose keys are not declared.
func atomics(found []string, path string, t *schema.Type, v value.Value) []string {
	switch v.Kind() {
	case value.KindObject:
		m := t.Map()
		if m == nil {
			return found
		}
		if m.Atomic() {
			found = append(found, path)
		}
		for name, member := range v.Members() {
			if of, declared := m.Lookup(name); declared {
				found = atomics(found, path+fieldpath.Field(name).String(), of, member)
			}
		}
	case value.KindList:
		l := t.List()
		if l == nil {
			return found
		}
		if l.Topology() == schema.AtomicList {
			found = append(found, path)
		}
		i := 0
		for item := range v.Items() {
			found = atomics(found, path+"["+strconv.Itoa(i)+"]", l.Element(), item)
			i++
		}
	}
	return found
}

// jsonPatch returns the object after the JSON patch that the expression makes. A patch whose test fails changes nothing.
//
// The outcome must be an object of the kind, to the letter: the error of another one answers the request.
func (p *patcher) jsonPatch(ctx context.Context) (value.Value, error) {
	result, err := p.result(ctx)
	if err != nil {
		return value.Value{}, err
	}
	patch, err := patchOf(result)
	if err != nil {
		return value.Value{}, err
	}
	text, err := jsonpatch.Text(ctx, patch, p.view.object)
	if stderrors.Is(err, jsonpatchlibrary.ErrTestFailed) {
		return p.view.object, p.q.Scope.Mutable(p.view.at, value.Value{})
	}
	if err != nil {
		return value.Value{}, fmt.Errorf("JSON Patch: %w", err)
	}
	defaulted, err := p.q.Scope.ReadStrict(text, p.view.at)
	if err != nil {
		return value.Value{}, errors.NewInternalError(err)
	}
	return defaulted, p.q.Scope.Mutable(p.view.at, defaulted)
}

// patchOf returns the JSON patch that a list of CEL values is.
func patchOf(result ref.Val) (jsonpatch.Patch, error) {
	list, ok := result.(traits.Lister)
	if !ok {
		return nil, stderrors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	patch := jsonpatch.Patch{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		native, err := it.Next().ConvertToNative(reflect.TypeFor[*mutation.JSONPatchVal]())
		if err != nil {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		from, ok := native.(*mutation.JSONPatchVal)
		if !ok {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %T", native)
		}
		op := map[string]*json.RawMessage{"op": quoted(from.Op), "path": quoted(from.Path)}
		if from.From != "" {
			op["from"] = quoted(from.From)
		}
		if from.Val != nil {
			if op["value"], err = jsonOf(from.Val); err != nil {
				return nil, err
			}
		}
		patch = append(patch, op)
	}
	return patch, nil
}

// quoted returns a text in the quotes of Go, as kube-apiserver writes them into patches.
func quoted(s string) *json.RawMessage { return new(json.RawMessage(strconv.Quote(s))) }

// jsonOf returns a CEL value as JSON. An object must have the types of its place.
func jsonOf(v ref.Val) (*json.RawMessage, error) {
	if object, ok := v.(*dynamic.ObjectVal); ok {
		if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	text, err := json.Marshal(native)
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	return (*json.RawMessage)(&text), nil
}
