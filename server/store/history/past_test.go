package history

import (
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
)

// texts returns the texts of a page by key.
func texts(t *testing.T, page store.Page, err error) map[string]string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range page.Records {
		out[r.Key] = fmt.Sprint(string(r.Text), " ", r.Created, " ", r.Revision)
	}
	return out
}

// TestPast reads revisions on both sides of marks while some are compacted, and compares them with a model of the store.
func TestPast(t *testing.T) {
	s, err := New(nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := seeds.Rand(t)
	model := map[string]string{}
	created := map[string]store.Revision{}
	past := map[store.Revision]map[string]string{1: {}}
	check := func(at store.Revision) {
		t.Helper()
		page, err := s.Range(t.Context(), store.Range{At: at})
		if got, want := texts(t, page, err), past[at]; !maps.Equal(got, want) {
			t.Fatalf("at %d: %d records, want %d", at, len(got), len(want))
		}
	}
	compacted := store.Revision(1)
	for latest := store.Revision(2); latest < 3*stride+100; latest++ {
		key := fmt.Sprint("/", r.IntN(40))
		current, err := s.Get(t.Context(), key, 0)
		switch {
		case err == nil && r.IntN(3) == 0:
			_, err = s.Delete(t.Context(), key, current.Revision)
			delete(model, key)
		default:
			if current.Revision == 0 {
				created[key] = latest
			}
			_, err = s.Put(t.Context(), key, fmt.Append(nil, latest), current.Revision)
			model[key] = fmt.Sprint(latest, " ", created[key], " ", latest)
		}
		if err != nil {
			t.Fatal(err)
		}
		past[latest] = maps.Clone(model)
		if latest%997 == 0 {
			for range 40 {
				check(compacted + store.Revision(r.Int64N(int64(latest-compacted+1))))
			}
		}
		if latest%(stride+stride/2) == 0 || latest == 2*stride+1 {
			compacted = latest - stride - 1
			if err := s.Compact(t.Context(), compacted); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := s.now.Load()
	for mark := now.firstMark(); mark <= now.latest(); mark += stride {
		for _, at := range []store.Revision{mark - 1, mark, mark + 1} {
			check(at)
		}
	}
	check(compacted)
	if got, want := len(now.marks), int(now.latest()/stride-compacted/stride); got != want || want < 2 {
		t.Errorf("%d marks, want %d", got, want)
	}
}

// TestPastIsKept reads the next pages of a list during writes. Only the first page may compute a tree.
func TestPastIsKept(t *testing.T) {
	s, err := New(nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int) {
		if _, err := s.Put(t.Context(), fmt.Sprintf("/%06d", i), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3000 {
		put(i)
	}
	first, err := s.Range(t.Context(), store.Range{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, kept := s.past.get(first.Revision); !kept {
		t.Error("the tree of a page is not kept for the next one")
	}
	for i := range 3000 {
		put(3000 + i)
	}
	next := store.Range{Limit: 10, At: first.Revision, After: first.Records[9].Key}
	if allocs := testing.AllocsPerRun(10, func() {
		if _, err := s.Range(t.Context(), next); err != nil {
			t.Fatal(err)
		}
	}); allocs > 5 {
		t.Errorf("the next page allocates %v times", allocs)
	}
	for i := range store.Revision(pasts) { // the last of them replaces its tree
		if _, kept := s.past.get(first.Revision); !kept {
			t.Errorf("after %d others it is forgotten", i)
		}
		if _, err := s.Get(t.Context(), "/000000", first.Revision-1-i); err != nil {
			t.Fatal(err)
		}
	}
	if _, kept := s.past.get(first.Revision); kept {
		t.Error("there is no end to what is kept")
	}
	if err := s.Compact(t.Context(), first.Revision); err != nil {
		t.Fatal(err)
	}
	for _, kept := range s.past.read {
		if kept.tree != nil && kept.revision < first.Revision {
			t.Errorf("revision %d is kept after it was compacted", kept.revision)
		}
	}
}

// BenchmarkPast computes the tree of a revision at the greatest distance from the next mark, among 100,000 records.
func BenchmarkPast(b *testing.B) {
	const records = 100_000
	s, err := New(nil, 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	revisions := make([]store.Revision, records)
	for i := range records + 2*stride {
		n := i * 7919 % records
		revisions[n], err = s.Put(b.Context(), fmt.Sprintf("/registry/%06d", n), nil, revisions[n])
		if err != nil {
			b.Fatal(err)
		}
	}
	now := s.now.Load()
	for b.Loop() {
		now.treeAt(now.latest()/stride*stride - stride + 1)
	}
}

// TestStrayDeletion loads a journal that deletes a record that never existed.
func TestStrayDeletion(t *testing.T) {
	changes := func(yield func(Change, error) bool) {
		for i, key := range []string{"/a", "/b", "/c"} {
			c := Change{Record: store.Record{Key: key, Revision: store.Revision(i + 2), Created: store.Revision(i + 2)}, Deleted: key == "/b"}
			if !yield(c, nil) {
				return
			}
		}
	}
	s, err := New(nil, 1, changes)
	if err != nil {
		t.Fatal(err)
	}
	for at, records := range []int{1: 0, 2: 1, 3: 1, 4: 2} {
		if at == 0 {
			continue
		}
		page, err := s.Range(t.Context(), store.Range{At: store.Revision(at)})
		if err != nil || len(page.Records) != records {
			t.Errorf("at %d: %d records, %v", at, len(page.Records), err)
		}
	}
}

// TestHistoryIsLight counts the allocations that remain of a write: the record, its key, its text, and little for the tree. The garbage
// collector visits each of them.
func TestHistoryIsLight(t *testing.T) {
	const records, writes = 20_000, 40_000
	s, err := New(nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := pieces()
	revisions := make([]store.Revision, records)
	for i := range writes {
		n := i * 7919 % records
		revisions[n], err = s.Put(t.Context(), fmt.Sprintf("/registry/%06d", n), fmt.Append(nil, i), revisions[n])
		if err != nil {
			t.Fatal(err)
		}
	}
	each := float64(pieces()-before) / writes
	if each > 8 {
		t.Errorf("a write leaves %.1f pieces of memory", each)
	}
	t.Logf("a write leaves %.1f pieces of memory", each)
	runtime.KeepAlive(s)
}

// pieces returns the number of live heap objects.
func pieces() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Mallocs - m.Frees)
}
