package managedfields_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/managedfields"
)

// TestCostOfUpdaters demands that four times as many updaters, which an update joins as ancient-changes, cost no more than 4^1.15
// times the work, and do not allocate sixteen times as much memory. An updater costs at most 1,000 bytes: its entry is copied a
// few times, but no map holds it.
func TestCostOfUpdaters(t *testing.T) {
	const n = 400
	small, smallBytes := costOfUpdaters(t, n)
	large, largeBytes := costOfUpdaters(t, 4*n)
	if small < n || large > 5*small {
		t.Errorf("the work is %d for %d updaters, and %d for %d", small, n, large, 4*n)
	}
	if largeBytes > 8*smallBytes || smallBytes > 1000*n {
		t.Errorf("%d bytes are allocated for %d updaters, and %d for %d", smallBytes, n, largeBytes, 4*n)
	}
}

// costOfUpdaters returns how much work an update is of an object with n updaters of one version, and how many bytes it allocates.
func costOfUpdaters(t *testing.T, n int) (counted int, bytes uint64) {
	t.Helper()
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"manager":"m%05d","operation":"Update","apiVersion":"example.com/v1","fieldsType":"FieldsV1",
			"time":"2025-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:quota":{"f:q%05d":{}}}}}`, i, i)
	}
	live := kindtest.New(t, `"metadata":{"name":"one","managedFields":[`+strings.Join(entries, ",")+`]},"spec":{"replicas":1}`)
	object := kindtest.New(t, `"metadata":{"name":"one"},"spec":{"replicas":2}`)
	m := kindtest.Manager(func(c *managedfields.Config) { c.Cache = managedfields.NewCache(0) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := work.Record(func() {
		out, err := m.Update(live, object, "now")
		if err != nil {
			t.Fatal(err)
		}
		if fields, err := out.Entries[0].FieldsV1.Set(); len(out.Entries) != 10 || err != nil || fields.Len() != n-8 {
			t.Fatalf("%d entries, of which the first has %d fields, error %v", len(out.Entries), fields.Len(), err)
		}
	})
	runtime.ReadMemStats(&after)
	return c.Values + c.Nodes + c.Elements + c.Sets + c.Steps + c.Pairs, after.TotalAlloc - before.TotalAlloc
}

// TestCostOfScale demands that four times as many owners of replicas, written through scale, do not allocate sixteen times as much.
func TestCostOfScale(t *testing.T) {
	cost := func(n int) uint64 {
		entries := make([]managedfields.Entry, n)
		for i := range entries {
			entries[i] = managedfields.Entry{
				Manager: fmt.Sprintf("m%05d", i), Operation: "Update", APIVersion: "apps/v1", FieldsType: "FieldsV1",
				FieldsV1: managedfields.FieldsOf(fieldpath.SetOf(kindtest.Path(t, ".spec.replicas"))),
			}
		}
		replicas := map[string]fieldpath.Path{"apps/v1": kindtest.Path(t, ".spec.replicas")}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		scale, err1 := managedfields.ScaleEntries(entries, replicas)
		parent, err2 := managedfields.EntriesAfterScale(entries, scale, "apps/v1", replicas)
		runtime.ReadMemStats(&after)
		if err1 != nil || err2 != nil || len(scale) != n || len(parent) != n {
			t.Fatalf("%d entries of %d go to scale (%v), and %d come back (%v)", len(scale), n, err1, len(parent), err2)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := cost(300), cost(1200); large > 8*small {
		t.Errorf("%d bytes are allocated for 300 owners, and %d for 1,200", small, large)
	}
}
