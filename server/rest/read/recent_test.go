package read

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// TestRecent caches more than the budget, and finds objects only under their revision and version.
func TestRecent(t *testing.T) {
	var r recent
	v, other := &catalog.Version{}, &catalog.Version{}
	text := make([]byte, recentBudget/4)
	record := func(i int, revision store.Revision) store.Record {
		return store.Record{Key: fmt.Sprint(i), Text: text, Revision: revision}
	}
	for i := range 10 {
		r.put(&readObject{Live: Live{Record: record(i, 1)}}, v)
		if n := r.objects.Len(); n > 3 {
			t.Fatalf("after %d objects: %d are kept, of a quarter of the budget each", i+1, n)
		}
	}
	r.put(&readObject{Live: Live{Record: store.Record{Key: "small", Text: text[:1], Revision: 1}}}, v)
	r.put(&readObject{Live: Live{Record: store.Record{Key: "small", Text: text[:2], Revision: 2}}}, v)
	small := store.Record{Key: "small", Revision: 2}
	if o := r.get(small, v); o == nil || len(o.Record.Text) != 2 {
		t.Errorf("the last object is forgotten")
	}
	small.Revision = 1
	if r.get(small, v) != nil || r.get(store.Record{Key: "small", Revision: 2}, other) != nil {
		t.Error("an object is found under another revision or version")
	}
	resource := &catalog.Resource{Versions: []*catalog.Version{v, other}}
	r.put(&readObject{Live: Live{Record: store.Record{Key: "small", Text: text[:3], Revision: 2}}}, other)
	before := r.objects.Len()
	r.gone("small", resource)
	if r.last("small", v) != nil || r.last("small", other) != nil || r.objects.Len() != before-2 {
		t.Errorf("an object that is gone is kept: %d objects before, %d after", before, r.objects.Len())
	}
}
