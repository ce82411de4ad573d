// Package peer asks the scheme of kube-apiserver what it makes of an object of a built-in kind.
package peer

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/deed-project/deed/oracle/kube/scheme"
)

// Answer is what the scheme makes of an object.
type Answer struct {
	Read   []byte // the object as it was read, with defaults, and printed
	Stored []byte // the same after it was stored in version hub and read from there
}

// Ask returns the answer for the JSON text of an object of a kind, whose objects are stored in version hub. The
// error is that of reading the object.
func Ask(gvk schema.GroupVersionKind, hub string, text []byte) (Answer, error) {
	s := scheme.All()
	object, err := s.New(gvk)
	if err != nil {
		return Answer{}, err
	}
	reader := json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{})
	object, _, err = reader.Decode(text, &gvk, object)
	if err != nil {
		return Answer{}, err
	}
	s.Default(object)
	held, err := s.UnsafeConvertToVersion(object, internal(gvk))
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if a.Read, err = print(held.DeepCopyObject(), gvk); err != nil {
		return Answer{}, err
	}
	if held, err = stored(held, gvk, hub); err != nil {
		return Answer{}, err
	}
	a.Stored, err = print(held, gvk)
	return a, err
}

func internal(gvk schema.GroupVersionKind) schema.GroupVersion {
	return schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}
}

// print returns the JSON text of an object that is held, in the version of gvk.
func print(held runtime.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	object, err := scheme.All().ConvertToVersion(held, gvk.GroupVersion())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	printer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.All(), scheme.All(), json.SerializerOptions{})
	err = printer.Encode(object, &b)
	return b.Bytes(), err
}

// stored returns held as it is read from where it was stored: as protocol buffers, or as JSON in the groups whose
// servers do so.
func stored(held runtime.Object, gvk schema.GroupVersionKind, hub string) (runtime.Object, error) {
	s := scheme.All()
	gv, err := schema.ParseGroupVersion(hub)
	if err != nil {
		return nil, err
	}
	at := gv.WithKind(gvk.Kind)
	object, err := s.ConvertToVersion(held, at.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("storing in %v: %w", at, err)
	}
	var codec runtime.Serializer = protobuf.NewSerializer(s, s)
	if gvk.Group == "apiextensions.k8s.io" || gvk.Group == "apiregistration.k8s.io" {
		codec = json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{})
	}
	var b bytes.Buffer
	if err := codec.Encode(object, &b); err != nil {
		return nil, err
	}
	object, _, err = codec.Decode(b.Bytes(), nil, nil)
	if err != nil {
		return nil, err
	}
	s.Default(object)
	return s.UnsafeConvertToVersion(object, internal(at))
}

// Convert returns the JSON text of an object of a kind in version to of it. It is read without defaults, as
// conversion reads objects.
func Convert(gvk schema.GroupVersionKind, to schema.GroupVersionKind, text []byte) ([]byte, error) {
	s := scheme.All()
	object, err := s.New(gvk)
	if err != nil {
		return nil, err
	}
	reader := json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{})
	if object, _, err = reader.Decode(text, &gvk, object); err != nil {
		return nil, err
	}
	held, err := s.UnsafeConvertToVersion(object, internal(gvk))
	if err != nil {
		return nil, err
	}
	return print(held, to)
}

// Apply returns the JSON text of the object that an apply came to, as it is held. The error is that of converting it to a Go value, in
// the words that follow the kind of the object in an answer.
func Apply(gvk schema.GroupVersionKind, object map[string]any) ([]byte, error) {
	s := scheme.All()
	typed, err := s.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(gvk)
	s.Default(typed)
	held, err := s.UnsafeConvertToVersion(typed, internal(gvk))
	if err != nil {
		return nil, err
	}
	return print(held, gvk)
}
