package peer

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/oracle/relabel"
)

// parts makes, converts and defaults objects by three parts: those of a scheme for Go structs, and those of a Config for unstructured
// objects.
type parts struct {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
	runtime.ObjectCreater
}

// unstructuredParts returns the parts for unstructured objects.
func unstructuredParts(config Config) parts {
	m := parts{config.Converter, config.Defaulter, relabel.Machine{}}
	if m.ObjectConvertor == nil {
		m.ObjectConvertor = relabel.Machine{}
	}
	if m.ObjectDefaulter == nil {
		m.ObjectDefaulter = relabel.Machine{}
	}
	return m
}
