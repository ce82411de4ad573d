package checks

import (
	"reflect"
	"testing"

	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/schema"
)

// The kinds that package validation leaves to this one are those whose form in the server is not that of other built-in kinds. A kind that it
// does not know as such would be passed unchecked.
func TestKindsThatAreValidatedApart(t *testing.T) {
	all, err := versions()
	if err != nil {
		t.Fatal(err)
	}
	plain := reflect.TypeOf(all[schema.GVK{Version: "v1", Kind: "Pod"}].Form)
	found := 0
	for gvk, v := range all {
		what, isApart := validation.Apart(gvk)
		if isApart {
			found++
		}
		if form := reflect.TypeOf(v.Form); isApart == (form == plain) {
			t.Errorf("the form of %v is a %v; validation.Apart returns %q, %v", gvk, form, what, isApart)
		}
	}
	if found != 3 {
		t.Errorf("%d kinds are validated apart, want 3", found)
	}
}
