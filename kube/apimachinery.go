package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	apimachinery "k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// The other functions and types that callers of apimachinery's package managedfields use. They are that package's own.

// TypeConverter gives objects their types. Every implementation works, including the caller's own.
type TypeConverter = apimachinery.TypeConverter

// GvkParser finds the type of a kind in an OpenAPI v2 document.
type GvkParser = apimachinery.GvkParser

// ResourcePathMappings maps a version to the path of the number of replicas.
type ResourcePathMappings = apimachinery.ResourcePathMappings

// ScaleHandler carries managed fields to the subresource scale and back.
type ScaleHandler = apimachinery.ScaleHandler

// NewTypeConverter returns a TypeConverter for the schemas of an OpenAPI v3 document.
func NewTypeConverter(openapiSpec map[string]*spec.Schema, preserveUnknownFields bool) (TypeConverter, error) {
	return apimachinery.NewTypeConverter(openapiSpec, preserveUnknownFields)
}

// NewDeducedTypeConverter returns a TypeConverter for objects without a schema, whose lists are atomic.
func NewDeducedTypeConverter() TypeConverter { return apimachinery.NewDeducedTypeConverter() }

// NewSchemeTypeConverter returns a TypeConverter for the kinds of scheme, with the types of parser. Packages of generated apply
// configurations have such a parser.
func NewSchemeTypeConverter(scheme *runtime.Scheme, parser *typed.Parser) TypeConverter {
	return apimachinery.NewSchemeTypeConverter(scheme, parser)
}

// NewGVKParser returns a GvkParser for models.
func NewGVKParser(models proto.Models, preserveUnknownFields bool) (*GvkParser, error) {
	return apimachinery.NewGVKParser(models, preserveUnknownFields)
}

// NewScaleHandler returns a ScaleHandler for the entries of the scaled object.
func NewScaleHandler(parentEntries []metav1.ManagedFieldsEntry, groupVersion gvkschema.GroupVersion, mappings ResourcePathMappings) *ScaleHandler {
	return apimachinery.NewScaleHandler(parentEntries, groupVersion, mappings)
}

// ExtractInto fills applyConfiguration with the fields that fieldManager applied to object through a subresource. [ownership.Extract]
// also returns the keys of list items.
func ExtractInto(object runtime.Object, objectType typed.ParseableType, fieldManager string, applyConfiguration any, subresource string) error {
	return apimachinery.ExtractInto(object, objectType, fieldManager, applyConfiguration, subresource)
}

// ValidateManagedFields returns an error for entries that cannot be decoded.
func ValidateManagedFields(entries []metav1.ManagedFieldsEntry) error {
	return apimachinery.ValidateManagedFields(entries)
}
