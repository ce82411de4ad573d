package testing

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/deed-project/deed/kube/fake"
)

// This file stands in for the tracker with managed fields.

// NewFieldManagedObjectTracker returns deed's tracker, which has the types of built-in kinds and needs no type converter.
func NewFieldManagedObjectTracker(scheme *runtime.Scheme, decoder runtime.Decoder, _ managedfields.TypeConverter) ObjectTracker {
	t, err := fake.NewTracker(NewObjectTracker(scheme, decoder), scheme, nil)
	if err != nil {
		panic(err)
	}
	return t
}
