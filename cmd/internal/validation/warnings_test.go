package validation_test

import (
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/value"
)

// TestDeprecation compares the warnings about built-in kinds with those of the server, for all kinds that can be written.
func TestDeprecation(t *testing.T) {
	resources, err := builtin.Kinds(builtin.Cluster{Now: time.Now, RuntimeConfig: builtin.RuntimeConfig{"api/all": true}})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range resources {
		for _, v := range r.Versions {
			gvk := schema.GVK{Group: r.Group, Version: v.Name, Kind: r.Kind}
			if r.Virtual {
				continue
			}
			if got := (validation.Server{}).Deprecation(gvk, 37, value.Value{}); got != v.Deprecation {
				t.Errorf("%v: %q, and the server says %q", gvk, got, v.Deprecation)
			}
			if v.Deprecation != "" {
				seen++
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d kinds are deprecated", seen)
	}
}
