package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// WithMetadata returns object with a member of its metadata set; an absent member removes it.
func WithMetadata(object value.Value, name string, member value.Value) value.Value {
	metadata := object.Get("metadata")
	if member.IsAbsent() && metadata.Get(name).IsAbsent() {
		return object
	}
	if metadata.IsAbsent() {
		metadata = value.Object()
	}
	return object.With("metadata", metadata.With(name, member))
}

// Meta returns a string of the metadata of object, such as its name, or "".
func Meta(object value.Value, name string) string { return object.Get("metadata", name).Str() }

// Wipe returns object without the metadata that only the server sets: the times of creation and deletion, and the uid.
func Wipe(object value.Value) value.Value {
	for _, name := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		object = WithMetadata(object, name, value.Value{})
	}
	return object
}

// InNamespace returns object in the namespace of a request. It fills in an empty namespace, and removes the namespace of a cluster-scoped
// object. Another namespace is a 400.
func InNamespace(object value.Value, namespace string) (value.Value, error) {
	switch had := Meta(object, "namespace"); {
	case had == namespace:
		return object, nil
	case had == "":
		return WithMetadata(object, "namespace", value.String(namespace)), nil
	case namespace == "":
		return WithMetadata(object, "namespace", value.Value{}), nil
	}
	return object, errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// CheckName returns a 400 if the name of an object differs from the name in the request's path.
func CheckName(object value.Value, name string) error {
	switch had := Meta(object, "name"); had {
	case name:
		return nil
	case "":
		return errors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	default:
		return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", had, name))
	}
}

// objectMeta returns the metadata of object in its Go type.
func objectMeta(object value.Value) (*metav1.ObjectMeta, error) {
	m := &metav1.ObjectMeta{}
	if metadata := object.Get("metadata"); metadata.Kind() == value.KindObject {
		return m, structs.Into(metadata, m)
	}
	return m, nil
}

var metadataPath = field.NewPath("metadata")

// ValidateMetadata returns the errors that the validation of custom resources adds to [ValidateNew] and [ValidateReplaced]. old is the
// replaced object, or absent.
func ValidateMetadata(ctx context.Context, object, old value.Value, namespaced bool) field.ErrorList {
	metadata := object.Get("metadata")
	if isPlain(metadata, namespaced) && (old.IsAbsent() || isPlainChange(metadata, old.Get("metadata"))) {
		return nil
	}
	m, err := objectMeta(object)
	if err != nil {
		return unreadable(object, err)
	}
	op, was := create, (*metav1.ObjectMeta)(nil)
	var names validation.ValidateNameFunc = validation.NameIsDNSSubdomain
	if !old.IsAbsent() {
		if was, err = objectMeta(old); err != nil {
			return unreadable(old, err)
		}
		op, names = update, nil
	}
	return validateMany(m, func(m *metav1.ObjectMeta) field.ErrorList {
		return validation.ValidateObjectMetaDeclaratively(ctx, op, m, was, namespaced, names, metadataPath, true)
	}, func(owners []metav1.OwnerReference) field.ErrorList {
		alone := &metav1.ObjectMeta{Name: "owned", OwnerReferences: owners}
		return validation.ValidateObjectMetaDeclaratively(ctx, create, alone, nil, false, validation.NameIsDNSSubdomain, metadataPath, true)
	})
}

// ValidateEmbedded returns the errors in metadata, which is at a path, of a resource inside of a custom resource. It needs no name.
func ValidateEmbedded(ctx context.Context, metadata value.Value, at *field.Path) field.ErrorList {
	m := &metav1.ObjectMeta{}
	if err := structs.Into(metadata, m); err != nil {
		if said := json.Unmarshal(metadata.AppendJSON(nil), &metav1.ObjectMeta{}); said != nil { // the text is that of the usual decoder
			err = said
		}
		return field.ErrorList{field.Invalid(at, metadata.ToAny(), err.Error())}
	}
	m.Name = cmp.Or(m.Name, "unnamed")
	return validation.ValidateObjectMetaDeclaratively(ctx, create, m, nil, m.Namespace != "", PathSegment, at, true)
}

const create, update = operation.Create, operation.Update

// unreadable returns the error that the metadata of an object does not have its Go type. The text is the library's, which decodes
// differently.
func unreadable(object value.Value, err error) field.ErrorList {
	metadata := object.Get("metadata").ToAny()
	if content, ok := metadata.(map[string]any); ok {
		if said := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &metav1.ObjectMeta{}); said != nil {
			err = said
		}
	}
	return field.ErrorList{field.Invalid(metadataPath, metadata, err.Error())}
}

// PathSegment is the rule for names that every kind obeys.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// ValidateNew returns the errors in the metadata of a new object of any kind.
func ValidateNew(object value.Value, namespaced bool) field.ErrorList {
	if isPlain(object.Get("metadata"), namespaced) {
		return nil
	}
	return ValidateNamed(object, namespaced, PathSegment)
}

// ValidateNamed returns the errors in the metadata of a new object whose kind has a rule for names.
func ValidateNamed(object value.Value, namespaced bool, name validation.ValidateNameFunc) field.ErrorList {
	m, err := objectMeta(object)
	if err != nil {
		return field.ErrorList{field.InternalError(metadataPath, err)}
	}
	return validateMany(m, func(m *metav1.ObjectMeta) field.ErrorList {
		return validation.ValidateObjectMetaAccessor(m, namespaced, name, metadataPath)
	}, checkOwners)
}

// checkOwners returns the errors in owner references of any kind.
func checkOwners(owners []metav1.OwnerReference) field.ErrorList {
	return validation.ValidateOwnerReferences(owners, ownersPath)
}

// ValidateReplaced returns the errors in the metadata of object, which replaces old.
func ValidateReplaced(object, old value.Value, namespaced bool) field.ErrorList {
	if metadata := object.Get("metadata"); isPlain(metadata, namespaced) && isPlainChange(metadata, old.Get("metadata")) {
		return nil
	}
	m, err := objectMeta(object)
	if err != nil {
		return nil // ValidateMetadata reports it
	}
	was, err := objectMeta(old)
	if err != nil {
		return nil
	}
	if object.Get("metadata", "deletionTimestamp").IsNull() {
		m.DeletionTimestamp = &metav1.Time{} // a client sent the zero time
	}
	return validateMany(m, func(m *metav1.ObjectMeta) field.ErrorList {
		errs := validation.ValidateObjectMetaAccessor(m, namespaced, PathSegment, metadataPath)
		return append(errs, validation.ValidateObjectMetaAccessorUpdate(m, was, metadataPath)...)
	}, checkOwners)
}

// ValidateFinalizers returns errors for the finalizers of a built-in object that are neither known nor qualified by a domain.
func ValidateFinalizers(object value.Value) field.ErrorList {
	var errs field.ErrorList
	known := []string{"kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	for i := range object.Get("metadata", "finalizers").Len() {
		name := object.Get("metadata", "finalizers").Item(i).Str()
		if !strings.Contains(name, "/") && !slices.Contains(known, name) {
			errs = append(errs, field.Invalid(metadataPath.Child("finalizers").Index(i), name,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// Timestamp returns a time as metadata has it.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
