// Package relabel makes and converts unstructured objects whose versions differ only in apiVersion, like custom resources with the conversion
// strategy None. It imports nothing but k8s.io/apimachinery, so that it builds with the libraries of every release.
package relabel

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Machine makes, converts and defaults objects for a field manager, which calls none of the embedded methods.
type Machine struct{ runtime.ObjectConvertor }

// New returns an object with only apiVersion and kind.
func (Machine) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	return object, nil
}

// ConvertToVersion returns in if it has the target version, and otherwise a copy with that version.
func (Machine) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("relabel", nil, target)
	}
	if to == from {
		return in, nil
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(to)
	return out, nil
}

// Default does nothing.
func (Machine) Default(runtime.Object) {}
