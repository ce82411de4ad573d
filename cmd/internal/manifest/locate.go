package manifest

import (
	"fmt"
	"iter"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Place is the place of a path in an object.
type Place struct {
	Path  fieldpath.Path
	Found bool        // whether the object has it
	Steps []any       // the steps to it as names of members and indexes of items, see [Origin.Key]
	Value value.Value // the value at the path
	Sets  []int       // the numbers of the sets that have Path
}

// Places yields the members of set in order, each with its place in o and the numbers of the others that have it. It visits each place
// once, see [typed.Walk]: the cost grows with set and o. A yielded Place is valid until the next one.
func (o *Object) Places(set fieldpath.Set, others ...fieldpath.Set) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		var steps []any
		for step := range typed.Walk(set, []typed.Value{typed.Untyped(o.Content)}, others...) {
			p := Place{Path: step.Path, Value: step.Values[0], Found: !step.Values[0].IsAbsent(), Sets: step.Sets}
			if p.Found {
				steps = steps[:0]
				for i, e := range step.Path {
					if e.Kind() == fieldpath.KindField {
						steps = append(steps, e.Name())
					} else {
						steps = append(steps, step.Items[i])
					}
				}
				p.Steps = steps
			}
			if !yield(p) {
				return
			}
		}
	}
}

// Keys returns the positions of the members' names, or of the items, at paths. Paths that o lacks have none. The cost is that of
// [Object.Places].
func (o *Object) Keys(paths iter.Seq[fieldpath.Path]) map[secret.Key]notice.Position {
	var wanted fieldpath.Builder
	for path := range paths {
		wanted.Add(path)
	}
	out := map[secret.Key]notice.Position{}
	for at := range o.Places(wanted.Set()) {
		if at.Found {
			out[secret.KeyOf(at.Path)] = o.Key(at.Steps...)
		}
	}
	return out
}

// Steps returns the steps of path through v as names of members and indexes of items. It stops where v lacks the path.
func Steps(v value.Value, path fieldpath.Path) []any {
	var out []any
	for _, e := range path {
		switch e.Kind() {
		case fieldpath.KindField:
			v = v.Get(e.Name())
			out = append(out, e.Name())
		default:
			i, ok := FindItem(v, e, 0)
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

// FindItem returns the index of the first item of list, starting at item number from, that e selects. An item without a key field has its
// default value: such an item is selected if no item matches completely.
func FindItem(list value.Value, e fieldpath.Element, from int) (int, bool) {
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

// DefectAt returns the position of e in o: of an undeclared name, or else of a value.
func (o *Object) DefectAt(e *typed.Error) notice.Position {
	path := Steps(o.Content, e.Path)
	switch e.Reason {
	case typed.Undeclared:
		return o.Key(path...)
	case typed.Unidentified, typed.Duplicate, typed.BadSchema:
		if i, ok := defectiveItem(e, o.Content, path); ok {
			return o.At(append(path, i)...)
		}
	}
	return o.At(path...)
}

// defectiveItem returns the index of the item that e reports in the list at path. The detail of e names the item by index, or by identity
// if it is a duplicate.
func defectiveItem(e *typed.Error, content value.Value, path []any) (int, bool) {
	var i int
	if _, err := fmt.Sscanf(e.Detail, "element %d:", &i); err == nil {
		return i, true
	}
	var text string
	if _, err := fmt.Sscanf(e.Detail, "duplicate entries for key %s", &text); err != nil {
		return 0, false
	}
	identity, err := fieldpath.ParsePath(e.Detail[len("duplicate entries for key "):])
	if err != nil || len(identity) != 1 {
		return 0, false
	}
	list := ValueAt(content, path)
	first, ok := FindItem(list, identity[0], 0)
	if !ok {
		return 0, false
	}
	return FindItem(list, identity[0], first+1)
}

// ValueAt returns the value at path in v, absent if v lacks the path. path consists of names of members and indexes of items.
func ValueAt(v value.Value, path []any) value.Value {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			v = v.Get(step)
		case int:
			v = v.Item(step)
		}
	}
	return v
}

// Lookup returns the value at path in v, absent if v lacks the path.
func Lookup(v value.Value, path fieldpath.Path) value.Value {
	way := Steps(v, path)
	if len(way) < len(path) {
		return value.Value{}
	}
	return ValueAt(v, way)
}
