package kube

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Objects in the forms in which Go programs hold them.

// ObjectOf returns the object that v holds:
//
//   - a typed object, a pointer to an apply configuration, or any other Go struct, as encoding/json prints it;
//   - a runtime.Unstructured, or the map that it holds;
//   - JSON text, as a []byte;
//   - a [value.Value], or a [managedfields.Object] itself.
//
// nil, a nil pointer and an empty map give the zero Object: no object is stored yet. A map may hold every value that encoding/json
// prints, such as an int, a json.Number and a time.Time. The Object refers to the memory of v. The caller must not modify v while the
// Object is in use. The error names the part of v that is no JSON value, or the defect of its managed fields.
func ObjectOf(v any) (managedfields.Object, error) {
	switch v := v.(type) {
	case nil:
		return managedfields.Object{}, nil
	case managedfields.Object:
		return v, nil
	case value.Value:
		if v.IsAbsent() {
			return managedfields.Object{}, nil
		}
		return managedfields.ObjectOf(v)
	case []byte:
		return managedfields.ParseObject(v)
	case map[string]any:
		return fromMap(v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return managedfields.Object{}, nil
	}
	if u, ok := v.(runtime.Unstructured); ok {
		return fromMap(u.UnstructuredContent())
	}
	document, err := structs.From(v)
	if err != nil {
		return managedfields.Object{}, err
	}
	if document.Kind() != value.KindObject {
		return managedfields.Object{}, fmt.Errorf("%T is no object", v)
	}
	return managedfields.ObjectOf(document)
}

// fromMap reads an unstructured object. It reads values that ObjectFromAny refuses as encoding/json prints them.
func fromMap(content map[string]any) (managedfields.Object, error) {
	object, err := managedfields.ObjectFromAny(content)
	var refused *value.ConversionError
	if !errors.As(err, &refused) {
		return object, err
	}
	document, err := structs.From(content)
	if err != nil {
		return managedfields.Object{}, err
	}
	return managedfields.ObjectOf(document)
}

// valueOf returns object as a document that includes its managed fields.
func valueOf(object runtime.Object) (value.Value, error) {
	if u, ok := object.(runtime.Unstructured); ok {
		return value.FromAny(u.UnstructuredContent())
	}
	return structs.From(object)
}

// Into fills target with the object and its managed fields. target is a pointer to a struct, such as a typed object or an apply
// configuration, a pointer to a map[string]any, or a runtime.Unstructured. A struct keeps members that the object lacks, so target should
// be new. Filled-in values share no memory with the object. The error names the part that target cannot hold.
func Into(object managedfields.Object, target any) error {
	document, err := object.Value()
	if err != nil {
		return err
	}
	if r := reflect.ValueOf(target); r.Kind() != reflect.Pointer || r.IsNil() {
		return fmt.Errorf("cannot fill %T: it must be a pointer that is not nil", target)
	}
	switch target := target.(type) {
	case runtime.Unstructured:
		content, _ := document.ToAny().(map[string]any)
		target.SetUnstructuredContent(content)
		return nil
	case *map[string]any:
		*target, _ = document.ToAny().(map[string]any)
		return nil
	}
	return structs.Into(document, target)
}

// Set returns object with v at the path of names. It adds missing objects along the path:
//
//	object, err = kube.Set(object, "blue", "metadata", "labels", "color")
//
// v is any value that encoding/json prints; nil removes the member. Set returns an error if v is no JSON value, or if the path leads into
// a value that is no object. It also refuses an empty path and managed fields, also as a part of metadata.
func Set(object managedfields.Object, v any, names ...string) (managedfields.Object, error) {
	if len(names) == 0 {
		return object, errors.New("there is no path to set a value at")
	}
	var member value.Value // absent
	if v != nil {
		var err error
		if member, err = structs.From(v); err != nil {
			return object, err
		}
	}
	if names[0] == "metadata" && (len(names) >= 2 && names[1] == "managedFields" || len(names) == 1 && !member.Get("managedFields").IsAbsent()) {
		return object, errors.New("managed fields are set as the entries of an object")
	}
	content, err := with(object.Content, member, names)
	if err != nil {
		return object, err
	}
	return managedfields.Object{Content: content, Entries: object.Entries}, nil
}

// with returns in with member at the path of names.
func with(in, member value.Value, names []string) (value.Value, error) {
	switch in.Kind() {
	case value.KindObject, value.KindAbsent, value.KindNull:
	default:
		return in, fmt.Errorf("cannot set %q in what is of kind %v", names[0], in.Kind())
	}
	if len(names) == 1 {
		return in.With(names[0], member), nil
	}
	inner := in.Get(names[0])
	if inner.IsAbsent() && member.IsAbsent() {
		return in, nil
	}
	inner, err := with(inner, member, names[1:])
	if err != nil {
		return in, err
	}
	return in.With(names[0], inner), nil
}

// ManagedFields returns entries as Kubernetes' metadata holds them. It returns nil for an empty list.
func ManagedFields(entries []managedfields.Entry) []metav1.ManagedFieldsEntry {
	if len(entries) == 0 {
		return nil
	}
	out := make([]metav1.ManagedFieldsEntry, len(entries))
	for i, e := range entries {
		out[i] = metav1.ManagedFieldsEntry{
			Manager: e.Manager, Operation: metav1.ManagedFieldsOperationType(e.Operation), APIVersion: e.APIVersion,
			FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if !e.Time.IsZero() {
			out[i].Time = &metav1.Time{Time: e.Time}
		}
		if fields := e.FieldsV1.Bytes(); fields != nil {
			out[i].FieldsV1 = metav1.NewFieldsV1(string(fields))
		}
	}
	return out
}

// Entries is the inverse of [ManagedFields]. It distinguishes nil from the empty list, which resets managed fields.
func Entries(entries []metav1.ManagedFieldsEntry) []managedfields.Entry {
	if entries == nil {
		return nil
	}
	out := make([]managedfields.Entry, len(entries))
	for i, e := range entries {
		out[i] = managedfields.Entry{
			Manager: e.Manager, Operation: merge.Operation(e.Operation), APIVersion: e.APIVersion,
			FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if e.Time != nil {
			out[i].Time = e.Time.Time
		}
		if e.FieldsV1 != nil {
			out[i].FieldsV1 = managedfields.FieldsOf(e.FieldsV1.GetRawString())
		}
	}
	return out
}
