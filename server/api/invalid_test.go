package api_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
)

// TestInvalid compares with the library.
func TestInvalid(t *testing.T) {
	at := field.NewPath("spec", "items")
	one, two := field.Invalid(at.Index(0), "x", "is wrong"), field.Required(at.Key("k"), "")
	for _, errs := range []field.ErrorList{
		nil, {one}, {one, two}, {one, one}, {one, two, one}, {field.TooMany(at, 3, 2), field.Duplicate(at, map[string]any{"a": 1}), two},
	} {
		for _, kind := range []schema.GroupKind{{}, {Kind: "Pod"}, {Group: "example.org", Kind: "Thing"}} {
			if got, want := api.Invalid(kind, "a \"b\"", errs), errors.NewInvalid(kind, "a \"b\"", errs); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %+v, want %+v", errs, got, want)
			}
		}
	}
}

// TestManyErrors refuses an object for ten times as many errors: that allocates about ten times as much.
func TestManyErrors(t *testing.T) {
	bytes := func(n int) uint64 {
		var errs field.ErrorList
		for i := range n {
			errs = append(errs, field.Invalid(field.NewPath("spec").Index(i), fmt.Sprint(i), "is wrong"))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		api.Invalid(schema.GroupKind{Kind: "Pod"}, "p", api.Unique(errs))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := bytes(500), bytes(5000); many > 15*few {
		t.Errorf("500 errors allocate %d bytes, and 5000 %d", few, many)
	}
}
