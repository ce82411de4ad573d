package peer

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// structMachine makes, converts and defaults Go structs by a scheme.
type structMachine struct {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
	runtime.ObjectCreater
}

// unstructuredMachine makes unstructured objects, and leaves conversion and defaults to its parts.
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

// New returns an object that has its apiVersion and kind and nothing else.
func (unstructuredMachine) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return obj, nil
}

// relabel converts by changing apiVersion, as conversion strategy None does for custom resources.
type relabel struct{}

// ConvertToVersion returns in when it has the target version already, and else a relabelled copy.
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

// Convert fails: the field manager does not call it.
func (relabel) Convert(in, out, context any) error { return errors.ErrUnsupported }

// ConvertFieldLabel fails: the field manager does not call it.
func (relabel) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	return "", "", errors.ErrUnsupported
}

// noDefaults leaves objects as they are.
type noDefaults struct{}

// Default does nothing.
func (noDefaults) Default(runtime.Object) {}
