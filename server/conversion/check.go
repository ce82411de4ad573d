package conversion

import (
	"fmt"
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// What a webhook may change. It converts everything but the identity of an object: metadata other than labels and annotations stays as it
// was, whatever the webhook answers. So a webhook cannot rename objects, or touch finalizers and owners.

// parse decodes an object of an answer. The error has the library's text.
//
// An object must have a kind.
func parse(text []byte) (value.Value, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(text); err != nil {
		return value.Value{}, err
	}
	return value.FromAny(object.Object)
}

// checked returns a converted object with the metadata of the original, apart from labels and annotations. It fails if the webhook returned
// another object or another version.
//
// The order of the checks is that of kube-apiserver's errors.
func checked(object, converted value.Value, apiVersion string) (value.Value, error) {
	was, is := kindOf(object), kindOf(converted)
	if want := kindOf(object.With("apiVersion", value.String(apiVersion))).GroupVersion(); is.GroupVersion() != want {
		return converted, fmt.Errorf("returned invalid object at index 0: invalid groupVersion (expected %v, received %v)",
			want, is.GroupVersion())
	}
	if is.Kind != was.Kind {
		return converted, fmt.Errorf("returned invalid object at index 0: invalid kind (expected %v, received %v)", was.Kind, is.Kind)
	}
	for _, same := range []struct{ name, text string }{{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}} {
		if a, b := object.Get("metadata", same.name).Str(), converted.Get("metadata", same.name).Str(); a != b {
			return converted, fmt.Errorf("returned invalid object: must have the same %s: %v != %v", same.text, a, b)
		}
	}
	metadata, err := restored(object.Get("metadata"), converted.Get("metadata"))
	if err != nil {
		return converted, fmt.Errorf("returned invalid metadata: %w", err)
	}
	return converted.With("metadata", metadata), nil
}

// restored returns the metadata of an object with the labels and annotations of an answer.
//
// Labels and annotations that the answer lacks are removed.
func restored(metadata, answered value.Value) (value.Value, error) {
	switch {
	case answered.IsAbsent():
		return metadata, fmt.Errorf("missing metadata in converted object")
	case answered.Kind() != value.KindObject:
		return metadata, fmt.Errorf("invalid metadata of type %T in converted object", answered.ToAny())
	case metadata.IsAbsent():
		metadata = value.Object()
	// An apply asks for the conversion of an object that is pruned in part, whose metadata may be null.
	case metadata.Kind() != value.KindObject:
		return metadata, fmt.Errorf("invalid metadata of type %T in input object", metadata.ToAny())
	}
	for _, name := range []string{"labels", "annotations"} {
		texts := answered.Get(name)
		if texts.IsNull() {
			texts = value.Value{}
		}
		if err := checkTexts(name, metadata.Get(name), texts); err != nil {
			return metadata, err
		}
		metadata = metadata.With(name, texts)
	}
	return metadata, nil
}

// checkTexts returns the error in the labels or annotations of an answer. Invalid ones that the object already had are allowed.
func checkTexts(name string, had, texts value.Value) error {
	if texts.IsAbsent() {
		return nil
	}
	if texts.Kind() != value.KindObject {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, texts.ToAny())
	}
	if !had.IsAbsent() && !had.IsNull() && had.Kind() != value.KindObject {
		return fmt.Errorf("invalid metadata.%s of type %T in original object", name, had.ToAny())
	}
	all := make(map[string]string, texts.Len())
	for key, text := range texts.Members() {
		if text.Kind() != value.KindString {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, text.ToAny())
		}
		all[key] = text.Str()
	}
	if texts.Equal(had) {
		return nil
	}
	if errs := invalid(name, all); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return nil
}

// invalid returns what is wrong with labels or annotations, in the order of their names. apimachinery has no order.
func invalid(name string, all map[string]string) (errs field.ErrorList) {
	// The path of annotations is spelled as in kube-apiserver.
	labels, annotations := field.NewPath("metadata", "labels"), field.NewPath("metadata", "annotation")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if name == "labels" {
			errs = append(errs, metavalidation.ValidateLabels(map[string]string{key: all[key]}, labels)...)
		} else {
			errs = append(errs, apivalidation.ValidateAnnotations(map[string]string{key: ""}, annotations)...)
		}
	}
	if name != "labels" && apivalidation.ValidateAnnotationsSize(all) != nil {
		errs = append(errs, field.TooLong(annotations, "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}
