package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Objects in other versions. The caller's converter converts them. This file makes typed values of
// the results, and gives errors the words of kube-apiserver.

// Converter converts the objects of one kind between its versions. It must be safe for concurrent
// use.
type Converter interface {
	// Convert returns object in the given version. object and the result state their versions in
	// apiVersion. The error wraps [merge.ErrNoVersion] if the kind has no such version: managers of
	// fields in that version are then dropped. Any other error fails the write.
	Convert(object value.Value, apiVersion string) (value.Value, error)
}

// applyConverter is a Converter that converts the outcome of an apply differently. kube-apiserver
// compares atomic lists of built-in kinds by their Go values, in which an empty list is not an absent
// one. The outcome of an apply becomes a Go value when it is converted, and keeps its empty lists. An
// updated object was a Go value before, and loses them.
type applyConverter interface {
	Converter
	// ConvertApplied is Convert for the outcome of an apply in the version of the configuration.
	ConvertApplied(object value.Value, apiVersion string) (value.Value, error)
}

// convertFunc is [Converter.Convert] or ConvertApplied of an applyConverter.
type convertFunc func(object value.Value, apiVersion string) (value.Value, error)

// ChangeVersion is the converter of kinds whose versions differ in name only. A version that
// [Config.Types] lacks does not exist: managers of fields in that version are dropped.
var ChangeVersion Converter = changeVersion{}

// changeVersion converts by a change of apiVersion alone.
type changeVersion struct{}

// Convert implements [Converter].
func (changeVersion) Convert(object value.Value, apiVersion string) (value.Value, error) {
	return object.With("apiVersion", value.String(apiVersion)), nil
}

// StrategyNone returns the converter of a custom resource with the conversion strategy None.
// apiVersions are the versions that its definition names. Conversion to any other version fails, as
// in an API server, but unlike [ChangeVersion]. So no apply works on an object with a manager in a
// version that was removed from the definition.
func StrategyNone(apiVersions ...string) Converter { return strategyNone(apiVersions) }

// strategyNone is changeVersion for the listed versions.
type strategyNone []string

// Convert implements [Converter].
func (versions strategyNone) Convert(object value.Value, apiVersion string) (value.Value, error) {
	if !slices.Contains(versions, apiVersion) {
		return value.Value{}, fmt.Errorf("request to convert CR to an invalid group/version: %s", apiVersion)
	}
	return changeVersion{}.Convert(object, apiVersion)
}

// convertContent returns object in the given version.
func (m *FieldManager) convertContent(object value.Value, apiVersion string) (value.Value, error) {
	if object.Get("apiVersion").Str() == apiVersion {
		return object, nil
	}
	return m.config.Converter.Convert(object, apiVersion)
}

// typedConverter adapts a function of a converter to package merge.
type typedConverter struct {
	convert convertFunc
	types   map[string]*schema.Type
	kind    string
}

// Convert implements [merge.Converter]. Unlike stored objects, converted objects must not hold a
// list item twice.
func (c typedConverter) Convert(v typed.Value, apiVersion string) (typed.Value, error) {
	if strings.Count(apiVersion, "/") > 1 {
		return typed.Value{}, fmt.Errorf("unexpected GroupVersion string: %s", apiVersion)
	}
	if core := strings.TrimPrefix(apiVersion, "/"); core != "" {
		apiVersion = core // a version of the core group may start with a slash
	}
	content := v.Content()
	if content.Get("apiVersion").Str() == apiVersion {
		return v, nil
	}
	if content.Kind() != value.KindObject { // an atomic object that was pruned
		return typed.Value{}, errors.New("failed to convert value to unstructured for type <nil>")
	}
	converted, err := c.convert(content, apiVersion)
	if err != nil {
		return typed.Value{}, err
	}
	t, ok := c.types[apiVersion]
	if !ok {
		return typed.Value{}, &noTypeError{schema.ParseGVK(apiVersion, c.kind)}
	}
	return typed.New(converted, t)
}

// noTypeError reports a version of a kind without a type. It wraps [merge.ErrNoVersion].
type noTypeError struct{ gvk schema.GVK }

// Error returns the words of kube-apiserver.
func (e *noTypeError) Error() string { return fmt.Sprintf("no corresponding type for %v", e.gvk) }

// Unwrap returns [merge.ErrNoVersion].
func (e *noTypeError) Unwrap() error { return merge.ErrNoVersion }

// versioned returns object in the endpoint's version. role is the role of object in the write.
func (r *request) versioned(role string, object value.Value) (value.Value, error) {
	converted, err := r.convertContent(object, r.apiVersion)
	switch {
	case err == nil:
		return converted, nil
	case role == roleNew:
		return object, fmt.Errorf("failed to convert new object (%s) to proper version (%s): %w", describe(object), r.apiVersion, err)
	}
	return object, fmt.Errorf("failed to convert %s object (%s) to proper version: %w", role, describe(object), err)
}
