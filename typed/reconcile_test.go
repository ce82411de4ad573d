package typed_test

import (
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

const (
	granularMap = `{"types": [{"name": "root", "map": {"fields": [{"name": "m", "type": {"map": {"elementType": {"scalar": "string"}}}}]}}]}`
	atomicMap   = `{"types": [{"name": "root", "map": {"fields": [{"name": "m", "type": {"map": {
		"elementType": {"scalar": "string"}, "elementRelationship": "atomic"}}}]}}]}`
)

// TestReconcileUnderTwoTypes reconciles the same sets again and again under types under which one is current, and one is not.
func TestReconcileUnderTwoTypes(t *testing.T) {
	granular, atomic := typeOf(t, granularMap), typeOf(t, atomicMap)
	whole, empty := setOf(t, ".m"), fieldpath.Set{}
	reconcile := func(s fieldpath.Set, under *schema.Type, want fieldpath.Set) {
		t.Helper()
		got, changed, err := typed.Reconcile(s, under)
		if err != nil || changed == want.Equal(s) || !got.Equal(want) {
			t.Errorf("got\n%v\n(changed %t, %v), want\n%v", got, changed, err, want)
		}
	}
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 50 {
				s := setOf(t, ".m.a", ".m.b")
				for range 3 {
					reconcile(s, granular, s)
					reconcile(s, atomic, whole)
					reconcile(s.Sub(fieldpath.Field("m")), granular, s.Sub(fieldpath.Field("m")))
					reconcile(whole, granular, whole)
					reconcile(whole, atomic, whole)
					reconcile(empty, atomic, empty)
				}
			}
		})
	}
	work.Wait()
}

// TestReconcileOfTypesWithDefects shows that a defect is found again and again by every set that meets it, and by no other.
func TestReconcileOfTypesWithDefects(t *testing.T) {
	s, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{{Name: "root", Atom: schema.Atom{Map: &schema.MapDef{
		Fields: []schema.FieldDef{{Name: "m", Type: schema.TypeRef{NamedType: "undefined"}}},
	}}}}})
	if err == nil {
		t.Fatal("the schema has no defect")
	}
	root, _ := s.Type("root")
	meets, other := setOf(t, ".m.a"), setOf(t, ".n.a")
	for range 3 {
		if _, _, err := typed.Reconcile(meets, root); err == nil {
			t.Error("the defect was passed over")
		}
		if got, changed, err := typed.Reconcile(other, root); changed || err != nil || !got.Equal(other) {
			t.Error(got, changed, err)
		}
	}
}

// TestReconcileKeepsNoType shows that a type can go although sets were reconciled under it that are still in use.
func TestReconcileKeepsNoType(t *testing.T) {
	s := setOf(t, ".m.a", ".m.b")
	reconciled := func() weak.Pointer[schema.Type] {
		root := typeOf(t, granularMap)
		if _, changed, err := typed.Reconcile(s, root); changed || err != nil {
			t.Fatal(changed, err)
		}
		return weak.Make(root)
	}()
	for range 10 {
		runtime.GC()
	}
	if reconciled.Value() != nil {
		t.Error("a type is kept alive that nothing refers to")
	}
	if _, changed, err := typed.Reconcile(s, typeOf(t, atomicMap)); !changed || err != nil {
		t.Error(changed, err)
	}
}
