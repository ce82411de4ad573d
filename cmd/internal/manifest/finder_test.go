package manifest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// TestFinder compares a finder with a search of lists, on random values with lists of items that lack key fields, repeat, or are no objects.
func TestFinder(t *testing.T) {
	r := seeds.Rand(t)
	found := 0
	for range 300 {
		root := value.Object(value.Member{Name: "l", Value: randomList(r, 2)})
		f := NewFinder(root)
		for range 30 {
			path := fieldpath.Path{fieldpath.Field("l")}
			for range 1 + r.IntN(3) {
				path = append(path, randomElement(r))
			}
			want := search(root, path)
			if got := f.Steps(path); !slices.Equal(got, want) {
				t.Fatalf("%s in %v is %v, want %v", path.Text(), root, got, want)
			}
			if got := f.Lookup(path); len(want) == len(path) && !got.Equal(ValueAt(root, want)) || len(want) < len(path) && !got.IsAbsent() {
				t.Fatalf("%s in %v is %v", path.Text(), root, got)
			}
			list, e := root.Get("l"), path[len(path)-1]
			for from := range 4 {
				i, ok := f.item(list, fieldpath.Path{path[0], e}, from)
				if j, same := searchItem(list, e, from); ok != same || ok && i != j {
					t.Fatalf("item %s of %v from %d is %d, want %d", fieldpath.Path{e}.Text(), list, from, i, j)
				}
			}
			if len(want) > 2 {
				found++
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d paths lead into lists", found)
	}
}

// TestFinderPassesListsOnce counts the items that are passed for all paths of a list.
func TestFinderPassesListsOnce(t *testing.T) {
	var items []value.Value
	var paths []fieldpath.Path
	for i := range 1000 {
		items = append(items, value.Object(value.Member{Name: "name", Value: value.Int(int64(i))}))
		paths = append(paths, fieldpath.Path{fieldpath.Key(
			fieldpath.KeyField{Name: "name", Value: value.Int(int64(i * 2))}, fieldpath.KeyField{Name: "protocol", Value: value.String("TCP")})})
	}
	f := NewFinder(value.List(items...))
	passed := work.Record(func() {
		for i, path := range paths {
			if got := len(f.Steps(path)); got != 1 && i < 500 || got != 0 && i >= 500 {
				t.Errorf("%s has %d steps", path.Text(), got)
			}
		}
	})
	if passed.Pairs != len(items) {
		t.Errorf("%d items are passed, want %d", passed.Pairs, len(items))
	}
}

func randomList(r *rand.Rand, depth int) value.Value {
	items := make([]value.Value, r.IntN(8))
	for i := range items {
		var members []value.Member
		for _, name := range [...]string{"a", "b", "c"} {
			if r.IntN(3) > 0 {
				members = append(members, value.Member{Name: name, Value: value.Int(int64(r.IntN(2)))})
			}
		}
		if depth > 0 {
			members = append(members, value.Member{Name: "l", Value: randomList(r, depth-1)})
		}
		if items[i] = value.Object(members...); r.IntN(4) == 0 {
			items[i] = value.Int(int64(r.IntN(3)))
		}
	}
	return value.List(items...)
}

func randomElement(r *rand.Rand) fieldpath.Element {
	switch r.IntN(6) {
	case 0:
		return fieldpath.Field("l")
	case 1:
		return fieldpath.Index(r.IntN(4))
	case 2:
		return fieldpath.Item(value.Int(int64(r.IntN(3))))
	}
	var fields []fieldpath.KeyField
	for _, name := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		fields = append(fields, fieldpath.KeyField{Name: name, Value: value.Int(int64(r.IntN(2)))})
	}
	return fieldpath.Key(fields...)
}

// search is Finder.Steps, by a search of each list.
func search(v value.Value, path fieldpath.Path) (out []any) {
	for _, e := range path {
		if e.Kind() == fieldpath.KindField {
			v = v.Get(e.Name())
			out = append(out, e.Name())
		} else {
			i, ok := searchItem(v, e, 0)
			if !ok {
				return out
			}
			v = v.Item(i)
			out = append(out, i)
		}
		if v.IsAbsent() {
			return out
		}
	}
	return out
}

// searchItem returns the index of the first item of list, starting at item number from, that e selects. An item without a key field has its
// default value: such an item is selected if no item matches completely.
func searchItem(list value.Value, e fieldpath.Element, from int) (int, bool) {
	if list.Kind() != value.KindList {
		return 0, false
	}
	if e.Kind() == fieldpath.KindIndex {
		return e.Index(), 0 <= e.Index() && e.Index() < list.Len()
	}
	byDefault := -1
	for i := from; i < list.Len(); i++ {
		switch item := list.Item(i); {
		case e.Kind() == fieldpath.KindItem && item.Equal(e.Value()), e.Kind() == fieldpath.KindKey && hasKey(item, e, false):
			return i, true
		case byDefault < 0 && e.Kind() == fieldpath.KindKey && hasKey(item, e, true):
			byDefault = i
		}
	}
	return byDefault, byDefault >= 0
}

// hasKey reports whether item has the fields of key e. With defaults, item may lack some of them, but not all.
func hasKey(item value.Value, e fieldpath.Element, defaults bool) bool {
	present := 0
	for _, f := range e.Fields() {
		switch v := item.Get(f.Name); {
		case v.Equal(f.Value):
			present++
		case !v.IsAbsent() || !defaults:
			return false
		}
	}
	return present > 0
}
