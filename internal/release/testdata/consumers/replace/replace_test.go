package replace

import (
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestReplaced lets two managers apply, with deed's sets: in those of structured-merge-diff, a SetNodeMap has one field.
func TestReplaced(t *testing.T) {
	if reflect.TypeFor[fieldpath.SetNodeMap]().NumField() == 1 {
		t.Fatal("the replace line has no effect")
	}
	s, err := NewServer()
	if err != nil {
		t.Fatal(err)
	}
	widget := func(size int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"size": size},
		}}
	}
	if err := s.Apply(widget(1), "ann", false); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(widget(2), "bob", false); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.size") {
		t.Errorf("bob's apply: %v", err)
	}
	if err := s.Apply(widget(2), "bob", true); err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(s.Stored.Object, "spec", "size"); size != 2 || len(s.Stored.GetManagedFields()) != 2 {
		t.Errorf("stored is %v", s.Stored.Object)
	}
}
