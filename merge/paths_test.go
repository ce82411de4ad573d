package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

// deep returns an object in which each of so many levels has two scalars that are v, and the next level.
func deep(levels, v int) string {
	text := fmt.Sprintf(`{"x":%d}`, v)
	for range levels {
		text = fmt.Sprintf(`{"a":%s,"b":%d,"c":%d}`, text, v, v)
	}
	return text
}

// TestPlanGivesPathsAway plans applies of deep objects, with few conflicts and with many.
func TestPlanGivesPathsAway(t *testing.T) {
	for _, levels := range []int{1, 8} {
		live, config := typedOf(t, schema.Deduced, deep(levels, 1)), typedOf(t, schema.Deduced, deep(levels, 2))
		if levels == 1 { // four conflicts, at the end of long paths
			wrap := strings.Repeat(`{"a":`, 6)
			live = typedOf(t, schema.Deduced, wrap+`{"a":1,"b":1,"c":1,"d":1}`+strings.Repeat("}", 6))
			config = typedOf(t, schema.Deduced, wrap+`{"a":2,"b":2,"c":2,"d":2}`+strings.Repeat("}", 6))
		}
		owner := merge.Entry{Manager: merge.Manager{Name: "ann", Operation: merge.Apply}, APIVersion: "v1", Fields: live.Fields()}
		plan, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: live, Object: config, Managers: merge.ManagersOf(owner), APIVersion: "v1",
			Manager: merge.Manager{Name: "bob", Operation: merge.Apply},
		})
		if err != nil {
			t.Fatal(err)
		}
		pathtest.Belong(t, 7, func() any { return plan.Conflicts() })
		pathtest.Belong(t, 7, func() any { return plan.Decisions() })
	}
}
