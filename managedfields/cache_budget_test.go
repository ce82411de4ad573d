package managedfields

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
)

// feeds are what a cache can be fed with, each in the form that takes the most memory for what it is: feed(i) reads the set number i.
var feeds = map[string]func(c *Cache, i int) (reading, error){
	"texts of small fields": func(c *Cache, i int) (reading, error) {
		return feedText(c, i, manyTimes(3000, func(j int) string { return fmt.Sprintf(`"f:%x":{}`, j) }))
	},
	"texts of escaped names": func(c *Cache, i int) (reading, error) {
		return feedText(c, i, `"f:`+strings.Repeat(`\"`, maxText/2-100)+`":{}`)
	},
	"texts of escaped keys": func(c *Cache, i int) (reading, error) {
		return feedText(c, i, manyTimes(300, func(j int) string {
			return fmt.Sprintf(`"k:{\"n\":\"%d%s\"}":{}`, j, strings.Repeat(`\\\\`, 20))
		}))
	},
	"texts of items": func(c *Cache, i int) (reading, error) {
		return feedText(c, i, manyTimes(1200, func(j int) string { return fmt.Sprintf(`"v:\"\\u0001%d\"":{}`, j) }))
	},
	"texts in depth": func(c *Cache, i int) (reading, error) {
		return feedText(c, i, strings.Repeat(`"f:a":{`, 2000)+strings.Repeat(`}`, 2000))
	},
	"texts of unknown elements": func(c *Cache, i int) (reading, error) { // which are read as the empty set
		return FieldsOf(fmt.Sprintf(`{"x:%d%s":{}}`, i, strings.Repeat("x", maxText-100))).read(c)
	},
	"tiny texts": func(c *Cache, i int) (reading, error) { return feedText(c, i, `"f:a":{}`) },
	"tiny maps": func(c *Cache, i int) (reading, error) {
		return feedEntry(c, i, map[string]any{fmt.Sprintf("f:%d", i): map[string]any{}})
	},
	"maps": func(c *Cache, i int) (reading, error) { return feedMap(c, i, 2500, "f:%d") },
	"maps of keys": func(c *Cache, i int) (reading, error) {
		return feedMap(c, i, 500, `k:{"n":"`+strings.Repeat(`\u0001`, 10)+`%d"}`)
	},
	"written maps": func(c *Cache, i int) (reading, error) {
		return feedWritten(c, i, 60, func(j int) []string { return []string{"a", fmt.Sprint(j), "b", "c", "d"} })
	},
	"written wide maps": func(c *Cache, i int) (reading, error) {
		return feedWritten(c, i, 1030, func(j int) []string { return []string{fmt.Sprint(j)} })
	},
	"large maps": func(c *Cache, i int) (reading, error) { return feedMap(c, i, 5_000, "f:%d") },
}

func manyTimes(n int, text func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

func feedText(c *Cache, i int, members string) (reading, error) {
	return FieldsOf(fmt.Sprintf(`{"f:%d":{},%s}`, i, members)).read(c)
}

func feedMap(c *Cache, i, n int, name string) (reading, error) {
	content := map[string]any{fmt.Sprintf("f:-%d", i): map[string]any{}}
	for j := range n {
		content[fmt.Sprintf(name, j)] = map[string]any{}
	}
	return feedEntry(c, i, content)
}

func feedEntry(c *Cache, i int, content map[string]any) (reading, error) {
	e := Entry{Manager: "m", Time: time.Unix(int64(i), 0), FieldsV1: Fields{held: content}}
	return e.read(c)
}

// feedWritten writes a set of n paths of fields as a map.
func feedWritten(c *Cache, i, n int, path func(j int) []string) (reading, error) {
	b := fieldpath.Builder{}
	b.Add(fieldpath.Path{fieldpath.Field(fmt.Sprint("-", i))})
	for j := range n {
		var p fieldpath.Path
		for _, name := range path(j) {
			p = append(p, fieldpath.Field(name))
		}
		b.Add(p)
	}
	return writeMap(c, b.Set(), fmt.Sprint("m", i)).reading(), nil
}

// TestCacheBudget fills caches with the worst that there is, and measures the heap: it grows by no more than the budget, and what a
// cache says that it holds is no less than what it holds.
func TestCacheBudget(t *testing.T) {
	const budget = 2 << 20
	root := untypedRoot(t)
	for name, feed := range feeds {
		t.Run(name, func(t *testing.T) {
			before := liveHeap()
			c, fed := NewCache(budget), int64(0)
			for i := 0; i < 2*textPlaces && (fed < 2*budget || i < 100); i++ {
				p, err := feed(c, i)
				if err != nil {
					t.Fatal(err)
				}
				p.fitsTo(root)
				fed += p.known.size()
				if c.size() > budget {
					t.Fatalf("%d bytes after %d sets", c.size(), i+1)
				}
			}
			const fixed = 128 << 10 // of the cache itself, and noise
			held := liveHeap() - before
			t.Logf("%d bytes are held, and %d counted", held, c.size())
			if held > int64(c.size())+fixed {
				t.Errorf("%d bytes are held, and %d counted", held, c.size())
			}
			if strings.HasPrefix(name, "tiny") {
				return // all places do not make the budget
			}
			if c.size() < budget/2 {
				t.Errorf("no more than %d bytes are counted, so nothing was shown", c.size())
			}
		})
	}
	runtime.KeepAlive(root)
}

// liveHeap returns how many bytes are reachable.
func liveHeap() int64 {
	var stats runtime.MemStats
	for range 3 { // what pools hold goes after two
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return int64(min(stats.HeapAlloc, math.MaxInt64))
}

// TestCacheCounts demands that used is what the places hold, also after many goroutines have fed a cache that is too small at once.
func TestCacheCounts(t *testing.T) {
	c := NewCache(1 << 20)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 150 {
				for _, name := range []string{"tiny maps", "maps of keys", "texts of items"} {
					if _, err := feeds[name](c, i%75+g); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	held := map[*parsedSet]int32{}
	for i := range c.places {
		if p := c.places[i].Load(); p != nil {
			held[p]++
		}
	}
	sum := int64(0)
	for p, places := range held {
		sum += p.size()
		if p.text == "" && p.places.Load() != places {
			t.Errorf("a set has %d places, and says %d", places, p.places.Load())
		}
	}
	if sum != c.used.Load() || sum > c.budget || len(held) < 10 {
		t.Errorf("%d sets of %d bytes, and %d are counted", len(held), sum, c.used.Load())
	}
}

// TestCacheOff demands that a cache of no bytes answers as any other, and remembers nothing.
func TestCacheOff(t *testing.T) {
	off, on := NewCache(0), NewCache(DefaultBudget)
	for name, feed := range feeds {
		for range 2 {
			got, gotErr := feed(off, 1)
			want, wantErr := feed(on, 1)
			if gotErr != nil || wantErr != nil || !got.set.Equal(want.set) || got.canonical != want.canonical {
				t.Errorf("%s: %v, %v", name, gotErr, wantErr)
			}
		}
		if off.size() > 0 {
			t.Fatalf("%s: %d bytes are held", name, off.size())
		}
	}
}

// TestCacheCompares demands that nothing but equal content finds a set: texts of one hash, and maps of one owner, time and shape,
// small and large.
func TestCacheCompares(t *testing.T) {
	c := NewCache(DefaultBudget)
	for _, text := range []string{`{"f:a":{}}`, `{"f:b":{}}`, `{"f:c":{}}`, `{"f:a":{}}`} {
		p, err := readText(c, text, 7)
		if err != nil || paths.JSON(p.set) != text {
			t.Errorf("%s is read as %s, error %v", text, paths.JSON(p.set), err)
		}
	}
	for _, n := range []int{3, 5_000} {
		content := map[string]any{}
		for i := range n {
			content[fmt.Sprintf("f:%d", i)] = map[string]any{}
		}
		for i := range 4 {
			other := maps.Clone(content)
			delete(other, "f:1")
			other[fmt.Sprintf("f:-%d", i)] = map[string]any{}
			for _, seconds := range []int64{1, int64(i)} { // found by owner and time, and by owner alone
				p, err := readMap(c, other, "m", seconds)
				if err != nil || p.set.Len() != n || !paths.MatchesAny(p.set, other) {
					t.Errorf("map %d of %d fields is read as another, error %v", i, n, err)
				}
			}
		}
	}
}

// TestCacheIsConfigs demands that a field manager reads sets by the cache that it is given.
func TestCacheIsConfigs(t *testing.T) {
	gvk := schema.GVK{Version: "v1", Kind: "X"}
	entries := []Entry{{Manager: "m", Operation: "Update", APIVersion: "v1", FieldsType: fieldsV1, FieldsV1: FieldsOf(`{"f:spec":{}}`)}}
	read := func(c *Cache) int {
		m, err := New(Config{GVK: gvk, Types: map[string]*schema.Type{"v1": schema.Deduced}, Cache: c})
		if err != nil {
			t.Fatal(err)
		}
		live := Object{Content: m.config.Empty, Entries: entries}
		return work.Record(func() {
			if _, err := m.Update(live, live, "m"); err != nil {
				t.Fatal(err)
			}
		}).Sets
	}
	own, off := NewCache(1<<20), NewCache(0)
	if first, second := read(own), read(own); first != 1 || second != 0 || own.size() == 0 {
		t.Errorf("%d sets are read, then %d, and %d bytes are held", first, second, own.size())
	}
	if first, second := read(off), read(off); first == 0 || second != first {
		t.Errorf("%d sets are read, then %d, by a cache that remembers nothing", first, second)
	}
}

func untypedRoot(t *testing.T) *schema.Type {
	t.Helper()
	s, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{{Name: "root", Atom: schema.Atom{Scalar: schema.Untyped}}}})
	if err != nil {
		t.Fatal(err)
	}
	root := s["root"]
	return root
}
