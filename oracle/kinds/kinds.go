// Package kinds has the built-in kinds of Kubernetes: the schemes that make their Go structs, and the converters with their types. Its
// sources are the modules that Kubernetes publishes for clients.
package kinds

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	builtin "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	aggregator "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
)

// Source is a scheme with Go structs of kinds, and the converter that types their objects.
type Source struct {
	Scheme *runtime.Scheme
	Types  managedfields.TypeConverter
}

// Sources returns every public source of built-in kinds: the API groups of client-go, then CustomResourceDefinition, then APIService.
// Callers must not modify the slice.
var Sources = sync.OnceValue(func() []Source {
	crds := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(crds))
	utilruntime.Must(apiextensionsv1beta1.AddToScheme(crds))
	services := runtime.NewScheme()
	utilruntime.Must(apiregistrationv1.AddToScheme(services))
	utilruntime.Must(apiregistrationv1beta1.AddToScheme(services))
	return []Source{
		{scheme.Scheme, builtin.NewTypeConverter(scheme.Scheme)},
		{crds, apiextensions.NewTypeConverter(crds)},
		{services, aggregator.NewTypeConverter(services)},
	}
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
