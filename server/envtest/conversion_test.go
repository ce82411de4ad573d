package envtest

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type object struct{ runtime.Object }

type (
	hub   struct{ object }
	spoke struct{ object }
)

func (*hub) Hub()                    {}
func (*spoke) ConvertTo(any) error   { return nil }
func (*spoke) ConvertFrom(any) error { return nil }

// TestConvertible finds kinds with one hub that all other versions are converted to.
func TestConvertible(t *testing.T) {
	s := runtime.NewScheme()
	for kind, versions := range map[string][]runtime.Object{
		"Good": {&hub{}, &spoke{}, &spoke{}}, "NoHub": {&spoke{}, &spoke{}}, "TwoHubs": {&hub{}, &hub{}, &spoke{}}, "Alone": {&hub{}},
		"Plain": {&hub{}, &spoke{}, &object{}},
	} {
		for i, v := range versions {
			s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "g", Version: "v" + string(rune('1'+i)), Kind: kind}, v)
		}
	}
	for kind, is := range convertible(s) {
		if want := kind.Kind == "Good"; is != want {
			t.Errorf("%s: %v, want %v", kind.Kind, is, want)
		}
	}
}
