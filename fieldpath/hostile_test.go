package fieldpath_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/race"
)

// allocated returns how many bytes f allocates: the least of several calls, since pools may have been emptied before one of them. Whatever
// copies costs at least that.
func allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// linear demands that four times the input costs little more than four times the memory. The race detector drops items of pools at random,
// so with it the inputs are run and not compared.
func linear(t *testing.T, what string, run func(n int)) {
	t.Helper()
	const n = 1000
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	run(4 * n)
	once, more := allocated(func() { run(n) }), allocated(func() { run(4 * n) })
	if more > 6*once && !race.Enabled {
		t.Errorf("%s: %d bytes are allocated for %d, and %d for %d", what, once, n, more, 4*n)
	}
}

// again returns part n times.
func again(part string, n int) string { return string(bytes.Repeat([]byte(part), n)) }

// deepAndUntidy is a fieldsV1 of n levels, no level of which is in order, with n leaves on the
// innermost.
func deepAndUntidy(n int) []byte {
	b := []byte(again(`{"f:b":`, n) + `{`)
	for i := range n {
		b = fmt.Appendf(b, `"f:%d":{},`, n-i)
	}
	return append(b, `"f:":{}}`+again(`,"f:a":{}}`, n)...)
}

// TestHostileSets reads and builds sets that are deep, large and in no order.
func TestHostileSets(t *testing.T) {
	linear(t, "ParseSet", func(n int) {
		s, err := fieldpath.ParseSet(deepAndUntidy(n))
		if err != nil || s.Len() != 2*n+1 {
			t.Errorf("%d members of %d (error %v)", s.Len(), 2*n+1, err)
		}
	})
	linear(t, "Builder", func(n int) {
		var b fieldpath.Builder
		for range n {
			paths.Enter(&b, fieldpath.Field("b"))
		}
		for i := range n {
			paths.Leaf(&b, fieldpath.Index(n-i))
		}
		for range n {
			paths.Leave(&b, false)
			paths.Leaf(&b, fieldpath.Field("a"))
		}
		if s := b.Set(); s.Len() != 2*n {
			t.Errorf("%d members of %d", s.Len(), 2*n)
		}
	})
	linear(t, "repeated elements", func(n int) {
		text := again(`{"f:b":{},"f:a":{},"f:b":`, n) + `{}` + again(`,"f:a":{}}`, n)
		if s, err := fieldpath.ParseSet([]byte(text)); err != nil || s.Len() != 2*n {
			t.Errorf("%d members of %d (error %v)", s.Len(), 2*n, err)
		}
	})
}

// TestHostileElements reads items whose objects are deep, and out of order on every level.
func TestHostileElements(t *testing.T) {
	linear(t, "ParseElement", func(n int) {
		wire := "v:" + again(`{"b":`, n) + `"` + again("x", 4*n) + `"` + again(`,"a":1}`, n)
		e, err := paths.ParseElement(wire)
		if err != nil || e.Value().Get("a").Int() != 1 {
			t.Errorf("%v (error %v)", e, err)
		}
	})
}
