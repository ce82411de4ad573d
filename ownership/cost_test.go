package ownership_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// several returns n texts, with commas between them.
func several(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

// costs are what people may do to an object that is large in one way, each given how large.
var costs = map[string]func(t *testing.T, n int) (run func()){
	"Check of absent fields in items": func(t *testing.T, n int) func() {
		items := several(n, func(i int) string { return fmt.Sprintf(`"k:{\"name\":\"c%05d\"}":{"f:image":{}}`, i) })
		o := withSets(t, `"metadata":{"name":"one","managedFields":[`+entry("ann", "Apply", "v1", "1",
			`{"f:spec":{"f:containers":{`+items+`}}}`)+`]},"spec":{"containers":[`+
			several(n, func(i int) string { return fmt.Sprintf(`{"name":"c%05d"}`, i) })+`]}`)
		return func() {
			if found := ownership.Check(o, checkConfig); len(found) != n {
				t.Fatalf("%d findings about %d absent fields", len(found), n)
			}
		}
	},
	"Check of many entries": func(t *testing.T, n int) func() {
		o := manyOwners(t, n)
		return func() {
			if found := ownership.Check(o, checkConfig); len(found) != n+1 {
				t.Fatalf("%d findings about %d entries", len(found), n)
			}
		}
	},
	"Owners by many entries": func(t *testing.T, n int) func() {
		return ownersOf(t, each(t, n, `{"f:spec":{"f:quota":{"f:q%05d":{}}}}`), `"spec":{"replicas":1}`)
	},
	"Owners of many members, one each": func(t *testing.T, n int) func() {
		return ownersOf(t, each(t, n, `{"f:spec":{"f:quota":{"f:q%05d":{}}}}`), `"spec":{"quota":{`+
			several(n, func(i int) string { return fmt.Sprintf(`"q%05d":1`, i) })+`}}`)
	},
	"Owners of many items, one each": func(t *testing.T, n int) func() {
		return ownersOf(t, each(t, n, `{"f:spec":{"f:containers":{"k:{\"name\":\"c%05d\"}":{".":{},"f:name":{}}}}}`), `"spec":{"containers":[`+
			several(n, func(i int) string { return fmt.Sprintf(`{"name":"c%05d"}`, i) })+`]}`)
	},
	"Owners of one item, many times": func(t *testing.T, n int) func() {
		return ownersOf(t, each(t, n, `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:x%05d":{}}}}}`), `"spec":{"containers":[`+
			several(n, func(int) string { return `{"name":"c"}` })+`]}`)
	},
	"PlanMigration of many items": func(t *testing.T, n int) func() {
		m := kindtest.Manager(nil)
		live := kindtest.Update(t, m, managedfields.Object{}, "csa", `"spec":{"containers":[`+
			several(n, func(i int) string { return fmt.Sprintf(`{"name":"c%05d","image":"i"}`, i) })+`]}`)
		config := kindtest.New(t, `"spec":{"replicas":1}`)
		return func() {
			plan, err := ownership.PlanMigration(m, live, config, []string{"csa"}, "ann")
			if err != nil || len(plan.Removed) != 3*n {
				t.Fatalf("%d parts of %d items are removed, error %v", len(plan.Removed), n, err)
			}
		}
	},
}

// each returns n entries of updaters, the fields of which are what format makes of their numbers.
func each(t *testing.T, n int, format string) string {
	t.Helper()
	return several(n, func(i int) string { return entry(fmt.Sprintf("m%05d", i), "Update", "v1", "1", fmt.Sprintf(format, i)) })
}

// ownersOf returns a run of Owners on the thing with these entries and members.
func ownersOf(t *testing.T, entries, members string) func() {
	t.Helper()
	o := withSets(t, `"metadata":{"name":"one","managedFields":[`+entries+`]},`+members)
	return func() {
		seq, err := ownership.Owners(o, kindtest.Type, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range seq {
		}
	}
}

// manyOwners returns an object with n updaters, each of which owns what is not there.
func manyOwners(t *testing.T, n int) managedfields.Object {
	t.Helper()
	return withSets(t, `"metadata":{"name":"one","managedFields":[`+several(n, func(i int) string {
		return entry(fmt.Sprintf("m%05d", i), "Update", "v1", "1", fmt.Sprintf(`{"f:spec":{"f:quota":{"f:q%05d":{}}}}`, i))
	})+`]},"spec":{"replicas":1}`)
}

// withSets returns a thing whose entries hold sets, so that what a cache has room for does not count.
func withSets(t *testing.T, members string) managedfields.Object {
	t.Helper()
	o := kindtest.New(t, members)
	for i := range o.Entries {
		fields, err := o.Entries[i].FieldsV1.Set()
		if err != nil {
			t.Fatal(err)
		}
		o.Entries[i].FieldsV1 = managedfields.FieldsOf(fields)
	}
	return o
}

// TestCost demands that four times as much costs no more than 4^1.15 times the work, and does not allocate sixteen times as much memory.
func TestCost(t *testing.T) {
	const n = 250
	for name, make := range costs {
		t.Run(name, func(t *testing.T) {
			small, smallBytes := costOf(make(t, n))
			large, largeBytes := costOf(make(t, 4*n))
			if large > 5*max(small, n) {
				t.Errorf("the work is %d for %d, and %d for %d", small, n, large, 4*n)
			}
			if small < n {
				t.Errorf("the work of %d is not counted: %d", n, small)
			}
			if largeBytes > 8*smallBytes {
				t.Errorf("%d bytes are allocated for %d, and %d for %d", smallBytes, n, largeBytes, 4*n)
			}
		})
	}
}

// costOf returns the work of a run, and how many bytes it allocates.
func costOf(run func()) (counted int, bytes uint64) {
	run() // what is made once is made
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := work.Record(run)
	runtime.ReadMemStats(&after)
	return c.Values + c.Nodes + c.Elements + c.Sets + c.Steps + c.Pairs, after.TotalAlloc - before.TotalAlloc
}
