// Package replace uses apimachinery's field manager as an API server does. Its go.mod replaces
// structured-merge-diff.
package replace

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Server holds one object.
type Server struct {
	Stored  *unstructured.Unstructured
	manager *managedfields.FieldManager
}

var gvk = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

// NewServer returns a server that holds an empty object.
func NewServer() (*Server, error) {
	m, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), asIs{}, asIs{}, asIs{}, gvk, gvk.GroupVersion(), "", nil)
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(gvk)
	return &Server{empty, m}, err
}

// Apply applies config.
func (s *Server) Apply(config *unstructured.Unstructured, manager string, force bool) error {
	out, err := s.manager.Apply(s.Stored, config, manager, force)
	if err == nil {
		s.Stored = out.(*unstructured.Unstructured)
	}
	return err
}

// asIs converts and defaults nothing.
type asIs struct{}

func (asIs) Default(runtime.Object) {}

func (asIs) New(schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (asIs) Convert(in, out, context any) error { return nil }

func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
