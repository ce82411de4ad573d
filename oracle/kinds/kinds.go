// Package kinds has the built-in kinds of Kubernetes: the schemes that make their Go structs, and the converters with their types. Its
// sources are the modules that Kubernetes publishes for clients.
package kinds

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	builtin "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
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
	for i := range out {
		out[i].Types = Served(out[i])
	}
	return out
})

// Served returns the converter that a kube-apiserver has for the kinds of a source. It differs in IntOrString: a server reads its types from
// OpenAPI v3, where an IntOrString has no type, so the server types every value. It refuses a list or an object later, when it decodes the
// merged object.
func Served(src Source) managedfields.TypeConverter {
	for gvk := range src.Scheme.AllKnownTypes() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(gvk)
		empty, err := src.Types.ObjectToTyped(object)
		if err != nil {
			continue // a kind without a type
		}
		types := slices.Clone(empty.Schema().Types)
		anyValue := slices.IndexFunc(types, func(def smdschema.TypeDef) bool { return def.Name == "__untyped_deduced_" })
		for i := range types {
			if types[i].Name == "io.k8s.apimachinery.pkg.util.intstr.IntOrString" {
				types[i].Atom = types[anyValue].Atom
			}
		}
		return converter(src.Scheme, &typed.Parser{Schema: smdschema.Schema{Types: types}})
	}
	return src.Types
}

// Of returns the source whose scheme has the API group of gvk, and whether there is one.
func Of(gvk schema.GroupVersionKind) (Source, bool) {
	for _, src := range Sources() {
		if src.Scheme.IsGroupRegistered(gvk.Group) {
			return src, true
		}
	}
	return Source{}, false
}
