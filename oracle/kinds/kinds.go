// Package kinds has the built-in kinds of Kubernetes: the schemes that make their Go structs, and the converters with their types. Its
// sources are the modules that Kubernetes publishes for clients.
package kinds

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	builtin "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// Source is a scheme with Go structs of kinds, and the converter that types their objects.
type Source struct {
	Scheme *runtime.Scheme
	Types  managedfields.TypeConverter
}

// Sources returns every public source of built-in kinds: the API groups of client-go, then CustomResourceDefinition, then APIService.
// Callers must not modify the slice.
var Sources = sync.OnceValue(func() []Source {
	out := []Source{{scheme.Scheme, builtin.NewTypeConverter(scheme.Scheme)}}
	for _, source := range further {
		out = append(out, source())
	}
	return out
})

// Of returns the source whose scheme has the API group of gvk, and whether there is one.
func Of(gvk schema.GroupVersionKind) (Source, bool) {
	for _, src := range Sources() {
		if src.Scheme.IsGroupRegistered(gvk.Group) {
			return src, true
		}
	}
	return Source{}, false
}
