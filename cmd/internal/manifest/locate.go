package manifest

import (
	"iter"
	"slices"
	"strconv"
	"strings"

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

// DefectAt returns the position of e in o: of an undeclared name, or else of a value.
func (o *Object) DefectAt(e *typed.Error) notice.Position {
	path := o.Find().Steps(e.Path)
	switch e.Reason {
	case typed.Undeclared:
		return o.Key(path...)
	case typed.Unidentified, typed.Duplicate, typed.BadSchema:
		if i, ok := o.defectiveItem(e, path); ok {
			return o.At(append(path, i)...)
		}
	}
	return o.At(path...)
}

// defectiveItem returns the index of the item that e reports in the list to which way leads. The detail of e names the item by index, or by
// identity if it is a duplicate.
func (o *Object) defectiveItem(e *typed.Error, way []any) (int, bool) {
	if text, ok := strings.CutPrefix(e.Detail, "element "); ok {
		text, _, _ = strings.Cut(text, ":")
		i, err := strconv.Atoi(text)
		return i, err == nil
	}
	text, ok := strings.CutPrefix(e.Detail, "duplicate entries for key ")
	if !ok {
		return 0, false
	}
	identity, err := fieldpath.ParsePath(text)
	if err != nil || len(identity) != 1 {
		return 0, false
	}
	list, item, find := ValueAt(o.Content, way), append(slices.Clone(e.Path), identity[0]), o.Find()
	first, ok := find.item(list, item, 0)
	if !ok {
		return 0, false
	}
	return find.item(list, item, first+1)
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
