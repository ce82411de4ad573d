package kinds

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// converter returns a converter of the Go structs of a scheme. Package oracle/releases replaces this file: up to v1.33, client-go has it.
func converter(scheme *runtime.Scheme, types *typed.Parser) managedfields.TypeConverter {
	return managedfields.NewSchemeTypeConverter(scheme, types)
}
