package peer

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// structMachine makes, converts and defaults Go structs with a scheme.
type structMachine struct {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
	runtime.ObjectCreater
}

// unstructuredMachine makes unstructured objects. Its fields convert and default them.
type unstructuredMachine struct {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
}

func newUnstructuredMachine(config Config) unstructuredMachine {
	m := unstructuredMachine{config.Converter, config.Defaulter}
	if m.ObjectConvertor == nil {
		m.ObjectConvertor = relabel{}
	}
	if m.ObjectDefaulter == nil {
		m.ObjectDefaulter = noDefaults{}
	}
	return m
}

// New returns an object with only apiVersion and kind.
func (unstructuredMachine) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return obj, nil
}

// relabel converts by changing apiVersion, like the conversion strategy None of custom resources.
type relabel struct{}

// ConvertToVersion returns in if it has the target version, and otherwise a copy with that version.
func (relabel) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
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

// Convert returns an error, because the field manager does not call it.
func (relabel) Convert(in, out, context any) error { return errors.ErrUnsupported }

// ConvertFieldLabel returns an error, because the field manager does not call it.
func (relabel) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errors.ErrUnsupported
}

// noDefaults sets no defaults.
type noDefaults struct{}

// Default does nothing.
func (noDefaults) Default(runtime.Object) {}
