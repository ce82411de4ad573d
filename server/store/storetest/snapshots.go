package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
)

// model is a naive store that keeps every state.
type model struct {
	states    map[store.Revision]map[string]store.Record
	revisions []store.Revision
}

func newModel(first store.Revision) *model {
	return &model{map[store.Revision]map[string]store.Record{first: {}}, []store.Revision{first}}
}

func (m *model) latest() store.Revision { return m.revisions[len(m.revisions)-1] }

func (m *model) record(key string) store.Record { return m.states[m.latest()][key] }

// add adds the state at a revision. A record without a revision is a deletion.
func (m *model) add(at store.Revision, r store.Record) {
	next := maps.Clone(m.states[m.latest()])
	if r.Revision == 0 {
		delete(next, r.Key)
	} else {
		next[r.Key] = r
	}
	m.states[at], m.revisions = next, append(m.revisions, at)
}

func (m *model) page(r store.Range) store.Page {
	state, p := m.states[r.At], store.Page{Revision: r.At}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		switch {
		case !strings.HasPrefix(key, r.Prefix) || key <= r.After:
		case r.Limit > 0 && len(p.Records) == r.Limit:
			p.Remaining++
		default:
			p.Records = append(p.Records, state[key])
		}
	}
	return p
}

// keys are awkward on purpose: prefixes of each other, and close to the separator in bytewise order.
var keys = []string{"/r/a", "/r/a/x", "/r/a-b/x", "/r/a/y", "/r/b/x", "/r/b/x\x00", "/r/\xff", "/r/\xff\xff", "/q", "/s/ü", "/"}

// grow makes n random writes.
func grow(t *testing.T, s store.Store, m *model, r *rand.Rand, n int) {
	ctx := t.Context()
	for range n {
		key := keys[r.IntN(len(keys))]
		current := m.record(key)
		if current.Revision != 0 && r.IntN(3) == 0 {
			at := must(s.Delete(ctx, key, current.Revision))(t)
			m.add(at, store.Record{Key: key})
			continue
		}
		text := fmt.Appendf(nil, "%d", r.Uint32())
		at := must(s.Put(ctx, key, text, current.Revision))(t)
		created := current.Created
		if created == 0 {
			created = at
		}
		m.add(at, store.Record{Key: key, Text: text, Created: created, Revision: at})
	}
}

func started(t *testing.T, s store.Store) (*model, *rand.Rand) {
	return newModel(must(s.Range(t.Context(), store.Range{}))(t).Revision), seeds.Rand(t)
}

// snapshots: each revision can be read unchanged, by key and by range.
func snapshots(t *testing.T, s store.Store) {
	m, r := started(t, s)
	grow(t, s, m, r, 200)
	for _, at := range m.revisions {
		m.check(t, s, r, at)
	}
	m.checkPage(t, s, store.Range{}, m.page(store.Range{At: m.latest()}))
	future := m.latest() + 1
	_, getErr := s.Get(t.Context(), "/q", future)
	_, rangeErr := s.Range(t.Context(), store.Range{At: future})
	if !errors.Is(getErr, store.ErrFuture) || !errors.Is(rangeErr, store.ErrFuture) {
		t.Errorf("the future: %v, %v", getErr, rangeErr)
	}
}

// check compares s at a revision with the model.
func (m *model) check(t *testing.T, s store.Store, r *rand.Rand, at store.Revision) {
	t.Helper()
	for _, key := range keys {
		if want, ok := m.states[at][key]; ok {
			expect(t, s, key, at, want)
		} else {
			absent(t, s, key, at)
		}
	}
	for range 5 {
		asked := store.Range{At: at, Limit: r.IntN(5)}
		asked.Prefix = oneOf(r, "", "/", "/r", "/r/", "/r/a", "/r/a/", "/r/\xff", "\xff")
		asked.After = oneOf(r, append([]string{"", "/r/a/", "/zzz"}, keys...)...)
		m.checkPage(t, s, asked, m.page(asked))
	}
}

func oneOf(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

func (m *model) checkPage(t *testing.T, s store.Store, asked store.Range, want store.Page) {
	t.Helper()
	got := must(s.Range(t.Context(), asked))(t)
	equal := slices.EqualFunc(got.Records, want.Records, same)
	if !equal || got.Revision != want.Revision || got.Remaining != want.Remaining {
		t.Errorf("%+v is\n%s, want\n%s", asked, showPage(got), showPage(want))
	}
}

func showPage(p store.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %d, %d remain", p.Revision, p.Remaining)
	for _, r := range p.Records {
		b.WriteString("\n  " + show(r))
	}
	return b.String()
}

// ranges: reading page by page returns each record once, despite concurrent writes.
func ranges(t *testing.T, s store.Store) {
	m, r := started(t, s)
	for i := range 100 {
		key := fmt.Sprintf("/r/%03d", i)
		at := must(s.Put(t.Context(), key, []byte("x"), 0))(t)
		m.add(at, store.Record{Key: key, Text: []byte("x"), Created: at, Revision: at})
	}
	at, read := m.latest(), 0
	asked := store.Range{Prefix: "/r/", Limit: 7, At: at}
	for {
		page := must(s.Range(t.Context(), asked))(t)
		m.checkPage(t, s, asked, m.page(asked))
		read += len(page.Records)
		if page.Remaining == 0 {
			break
		}
		asked.After = page.Records[len(page.Records)-1].Key
		grow(t, s, m, r, 3)
	}
	if read != 100 {
		t.Errorf("the pages have %d records, want 100", read)
	}
}

// compaction: the history before a compacted revision is gone, and the rest stays.
func compaction(t *testing.T, s store.Store) {
	ctx := context.Background()
	m, r := started(t, s)
	grow(t, s, m, r, 120)
	last := m.revisions[0]
	for _, i := range []int{0, 30, 30, 20, 75, 120} {
		to := m.revisions[i]
		last = max(last, to)
		if err := s.Compact(ctx, to); err != nil {
			t.Fatalf("compact to %d: %v", to, err)
		}
		for _, at := range m.revisions {
			if at >= last {
				m.check(t, s, r, at)
				continue
			}
			_, getErr := s.Get(ctx, "/q", at)
			_, rangeErr := s.Range(ctx, store.Range{At: at})
			if !errors.Is(getErr, store.ErrCompacted) || !errors.Is(rangeErr, store.ErrCompacted) {
				t.Fatalf("%d is compacted to %d: %v, %v", at, last, getErr, rangeErr)
			}
		}
	}
	if err := s.Compact(ctx, m.latest()+1); !errors.Is(err, store.ErrFuture) {
		t.Errorf("compacting the future: %v", err)
	}
	grow(t, s, m, r, 20)
	for _, at := range m.revisions[120:] {
		m.check(t, s, r, at)
	}
}
