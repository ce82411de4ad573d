package cli

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// steps returns the way through v that path takes, in names of members and indexes of items. It ends where v does.
func steps(v value.Value, path fieldpath.Path) []any {
	var out []any
	for _, e := range path {
		switch e.Kind() {
		case fieldpath.KindField:
			v = v.Get(e.Name())
			out = append(out, e.Name())
		default:
			i, ok := findItem(v, e, 0)
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

// findItem returns the index of the first item of list, from item number from on, that e selects. An item without a key
// field has it by default: it is selected where no item matches in full.
func findItem(list value.Value, e fieldpath.Element, from int) (int, bool) {
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

// defectAt returns the position in o that e is about: a name that is not declared, or else a value.
func (o *object) defectAt(e *typed.Error) position {
	path := steps(o.Content, e.Path)
	switch e.Reason {
	case typed.Undeclared:
		return o.key(path...)
	case typed.Unidentified, typed.Duplicate, typed.BadSchema:
		if i, ok := defectiveItem(e, o.Content, path); ok {
			return o.at(append(path, i)...)
		}
	}
	return o.at(path...)
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
	list := valueAt(content, path)
	first, ok := findItem(list, identity[0], 0)
	if !ok {
		return 0, false
	}
	return findItem(list, identity[0], first+1)
}

func valueAt(v value.Value, path []any) value.Value {
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

// lookup returns what is at path in v, absent when nothing is.
func lookup(v value.Value, path fieldpath.Path) value.Value {
	way := steps(v, path)
	if len(way) < len(path) {
		return value.Value{}
	}
	return valueAt(v, way)
}

// typeAt returns the type of what is at path in a value of type t, and nil when t admits no such thing.
func typeAt(t *schema.Type, path fieldpath.Path) *schema.Type {
	for _, e := range path {
		switch {
		case t == nil:
			return nil
		case e.Kind() == fieldpath.KindField && t.Map() != nil:
			t, _ = t.Map().Lookup(e.Name())
		case e.Kind() != fieldpath.KindField && t.List() != nil:
			t = t.List().Element()
		default:
			return nil
		}
	}
	return t
}

// explain returns what is wrong, in plain words, and the declared field that was probably meant.
func explain(e *typed.Error, t *schema.Type) string {
	if e.Reason != typed.Undeclared || len(e.Path) == 0 {
		return e.PlainError()
	}
	parent := typeAt(t, e.Path[:len(e.Path)-1])
	if parent == nil || parent.Map() == nil {
		return e.PlainError()
	}
	fields := parent.Map().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if meant := nearest(e.Path[len(e.Path)-1].Name(), names); meant != "" {
		return fmt.Sprintf("%s; did you mean %q?", e.PlainError(), meant)
	}
	return e.PlainError()
}
