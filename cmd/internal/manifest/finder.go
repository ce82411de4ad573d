package manifest

import (
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// Finder finds paths in one value. It passes each list once, so that many paths cost about their lengths. It is safe for concurrent use.
type Finder struct {
	root value.Value

	mu    sync.Mutex
	lists map[listKey]*listIndex
}

// listKey is the path of a list, and the names of the key fields that its items are told apart by: none for a set.
type listKey struct {
	path  secret.Key
	names string
}

// listIndex has the items of a list by their identities. A part is for the items that have the same key fields: all, or some of them, where the
// others have their defaults.
type listIndex struct {
	whole map[fieldpath.Element][]int
	parts []listPart
}

type listPart struct {
	names []string // of the fields that the items have
	items map[fieldpath.Element][]int
}

// NewFinder returns a finder for v.
func NewFinder(v value.Value) *Finder { return &Finder{root: v} }

// Steps returns the steps of path as names of members and indexes of items. It stops where the value lacks the path.
func (f *Finder) Steps(path fieldpath.Path) []any {
	var out []any
	v := f.root
	for n, e := range path {
		if e.Kind() == fieldpath.KindField {
			v = v.Get(e.Name())
			out = append(out, e.Name())
		} else {
			i, ok := f.item(v, path[:n+1], 0)
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

// Lookup returns the value at path, absent if the value lacks the path.
func (f *Finder) Lookup(path fieldpath.Path) value.Value {
	way := f.Steps(path)
	if len(way) < len(path) {
		return value.Value{}
	}
	return ValueAt(f.root, way)
}

// Steps is [Finder.Steps] for one path.
func Steps(v value.Value, path fieldpath.Path) []any { return NewFinder(v).Steps(path) }

// Lookup is [Finder.Lookup] for one path.
func Lookup(v value.Value, path fieldpath.Path) value.Value { return NewFinder(v).Lookup(path) }

// FindItem returns the index of the first item of list that e selects. An item without a key field has its default value: such an item is
// selected if no item matches completely.
func FindItem(list value.Value, e fieldpath.Element) (int, bool) {
	return NewFinder(list).item(list, fieldpath.Path{e}, 0)
}

// item is [FindItem] for the last element of path, which leads into list, and the items of list starting at number from.
func (f *Finder) item(list value.Value, path fieldpath.Path, from int) (int, bool) {
	e := path[len(path)-1]
	switch {
	case list.Kind() != value.KindList:
		return 0, false
	case e.Kind() == fieldpath.KindIndex:
		return e.Index(), 0 <= e.Index() && e.Index() < list.Len()
	}
	fields := e.Fields()
	index := f.index(list, path[:len(path)-1], fields)
	if i, ok := atLeast(index.whole[e], from); ok {
		return i, true
	}
	found := -1
	for _, part := range index.parts {
		if i, ok := atLeast(part.items[fieldpath.Key(having(fields, part.names)...)], from); ok && (found < 0 || i < found) {
			found = i
		}
	}
	return found, found >= 0
}

// index returns the index of the list at path by fields.
func (f *Finder) index(list value.Value, path fieldpath.Path, fields []fieldpath.KeyField) *listIndex {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	key := listKey{secret.KeyOf(path), strings.Join(names, "\x00")}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lists == nil {
		f.lists = map[listKey]*listIndex{}
	}
	if f.lists[key] == nil {
		f.lists[key] = newListIndex(list, names)
	}
	return f.lists[key]
}

// newListIndex indexes a list by the key fields with these names, or by its items if there are none.
func newListIndex(list value.Value, names []string) *listIndex {
	work.Add(work.Counts{Pairs: list.Len()})
	out := &listIndex{whole: map[fieldpath.Element][]int{}}
	for i := range list.Len() {
		if len(names) == 0 {
			e := fieldpath.Item(list.Item(i))
			out.whole[e] = append(out.whole[e], i)
			continue
		}
		e, has := keyOf(list.Item(i), names)
		if len(has) == 0 {
			continue
		}
		items := out.whole
		if len(has) < len(names) {
			items = out.part(has)
		}
		items[e] = append(items[e], i)
	}
	return out
}

// keyOf returns the key of item by those of its fields that have one of names, and their names.
func keyOf(item value.Value, names []string) (fieldpath.Element, []string) {
	var fields []fieldpath.KeyField
	var has []string
	for _, name := range names {
		if v := item.Get(name); !v.IsAbsent() {
			fields, has = append(fields, fieldpath.KeyField{Name: name, Value: v}), append(has, name)
		}
	}
	return fieldpath.Key(fields...), has
}

// part returns the part of the items that have the fields with these names.
func (l *listIndex) part(names []string) map[fieldpath.Element][]int {
	for _, p := range l.parts {
		if slices.Equal(p.names, names) {
			return p.items
		}
	}
	p := listPart{names, map[fieldpath.Element][]int{}}
	l.parts = append(l.parts, p)
	return p.items
}

// having returns the fields with these names.
func having(fields []fieldpath.KeyField, names []string) []fieldpath.KeyField {
	return slices.DeleteFunc(slices.Clone(fields), func(f fieldpath.KeyField) bool { return !slices.Contains(names, f.Name) })
}

// atLeast returns the first of ascending numbers that is not below from.
func atLeast(numbers []int, from int) (int, bool) {
	i, _ := slices.BinarySearch(numbers, from)
	if i == len(numbers) {
		return 0, false
	}
	return numbers[i], true
}
