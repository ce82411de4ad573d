package manifest

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Place returns the line of path in the input and the value there, and 0 and absent when the object has no such path.
func (o *Object) Place(path fieldpath.Path) (line int, v value.Value) {
	way := Steps(o.Content, path)
	if v = ValueAt(o.Content, way); len(way) != len(path) || v.IsAbsent() {
		return 0, value.Value{}
	}
	return o.Key(way...).Line, v
}

// Steps returns the way through v that path takes, in names of members and indexes of items. It ends where v does.
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

// FindItem returns the index of the first item of list, from item number from on, that e selects. An item without a key
// field has it by default: it is selected where no item matches in full.
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

// hasKey reports whether item has the fields of key e. With defaults it may lack some of them, not all.
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

// DefectAt returns the position in o that e is about: a name that is not declared, or else a value.
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

// defectiveItem returns which item of the list at path e is about: the detail names it by index, or by identity if it is
// there twice.
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

// ValueAt returns what is at path in v, in names of members and indexes of items, absent when nothing is.
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

// Lookup returns what is at path in v, absent when nothing is.
func Lookup(v value.Value, path fieldpath.Path) value.Value {
	way := Steps(v, path)
	if len(way) < len(path) {
		return value.Value{}
	}
	return ValueAt(v, way)
}
