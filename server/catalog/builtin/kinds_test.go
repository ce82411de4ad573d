package builtin

import (
	"testing"
	"time"

	"github.com/deed-project/deed/server/catalog"
)

// TestManagers makes every field manager of every built-in kind: servers make each when a request needs it first.
func TestManagers(t *testing.T) {
	kinds, err := Kinds(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range kinds {
		for _, v := range r.Versions {
			managers := []catalog.Manager{v.Main, v.Status, v.Finalize}
			for _, part := range v.Parts {
				managers = append(managers, part)
			}
			for _, manager := range managers {
				if manager == nil {
					continue
				}
				n++
				if first, second := manager(), manager(); first == nil || first != second {
					t.Errorf("%v has a field manager that is made twice, or not at all", v.GVK())
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("%d field managers", n)
	}
}
