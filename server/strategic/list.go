package strategic

import (
	"context"
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/deed-project/deed/value"
)

// Merging lists, and their order. A list of objects is merged by a key, and the patch may say in which order the items stand:
//
//	old      [{name: a} {name: b} {name: c}]
//	patch    [{name: d} {name: b, x: 1} {name: a, $patch: delete}]
//	merged   [{name: d} {name: b, x: 1} {name: c}]
//
// First the directives are carried out, then items with the same key are merged, and then all are put in order. Items of the patch stand as
// the patch has them, and others keep their places among them as well as both orders permit.
//
// The library's order depends on details of its algorithms, such as what an array holds behind its end. These details are reproduced here,
// and sort and without name them. The cost is that of sorting, where the library compares each item with all others.

// list is a list that a patch is merged into.
//
// It is used for one merge.
type list struct {
	meta strategicpatch.LookupPatchMeta // of its items
	key  string                         // the merge key; empty for scalars
	old  []value.Value                  // the items; merge leaves the library's remains in it, see [list.without]
}

// scalar is a string, a number, a boolean or null, as the key of a map.
//
// Two scalars are equal if they have the same kind and text: 1 and "1" differ.
type scalar struct {
	kind value.Kind
	text string
}

// scalarOf returns v as a scalar. It returns false for an object or a list, which equals no other.
func scalarOf(v value.Value) (scalar, bool) {
	switch v.Kind() {
	case value.KindString:
		return scalar{value.KindString, v.Str()}, true
	case value.KindObject, value.KindList, value.KindAbsent:
		return scalar{}, false
	}
	return scalar{v.Kind(), v.String()}, true
}

// id returns the identity of an item: its key, or the item itself if it is a scalar.
func (l *list) id(item value.Value) (scalar, bool) {
	if l.key != "" {
		item = item.Get(l.key)
	}
	return scalarOf(item)
}

// places returns the first index of each identity.
//
// Items without an identity are left out.
func (l *list) places(of []value.Value) map[scalar]int {
	out := make(map[scalar]int, len(of))
	for i, item := range of {
		if id, ok := l.id(item); ok {
			if _, known := out[id]; !known {
				out[id] = i
			}
		}
	}
	return out
}

// kindOf returns the kind that all items of all lists share.
//
// Its errors are the library's. The first item decides about null and lists, which cannot be merged.
func kindOf(lists ...[]value.Value) (value.Kind, error) {
	kind, none := value.KindAbsent, true
	for _, l := range lists {
		for _, item := range l {
			switch {
			case none && item.IsNull():
				return kind, ErrNullItem
			case none && item.Kind() == value.KindList:
				return kind, mergepatch.ErrNoListOfLists
			case none:
				kind, none = item.Kind(), false
			case item.Kind() != kind:
				var all [][]any
				for _, l := range lists {
					all = append(all, anyList(l))
				}
				return kind, fmt.Errorf("list element types are not identical: %v", fmt.Sprint(all))
			}
		}
	}
	if none {
		return kind, fmt.Errorf("no elements in any of the given slices")
	}
	return kind, nil
}

// merge returns the items merged with those of a patch, or without them if deletes is set. Items of the patch have the patch's order, and
// others the order of the list.
func (l *list) merge(ctx context.Context, patch []value.Value, deletes bool) ([]value.Value, error) {
	if len(l.old) == 0 && len(patch) == 0 {
		return l.old, nil
	}
	kind, err := kindOf(l.old, patch)
	if err != nil {
		return nil, err
	}
	old, merged := l.old, []value.Value(nil)
	switch {
	// $deleteFromPrimitiveList: the patch names what goes.
	case kind != value.KindObject && deletes:
		gone := l.scalars(patch)
		for _, item := range old {
			if id, _ := scalarOf(item); !gone[id] {
				merged = append(merged, item)
			}
		}
		return merged, nil
	// A set of scalars: what is there twice stays once.
	case kind != value.KindObject:
		had := map[scalar]bool{}
		for _, item := range append(append([]value.Value(nil), old...), patch...) {
			if id, _ := scalarOf(item); !had[id] {
				had[id] = true
				merged = append(merged, item)
			}
		}
	case l.key == "":
		return nil, fmt.Errorf("cannot merge lists without merge key for %s", l.meta.Name())
	default:
		var replaces bool
		if old, patch, replaces, err = l.directed(patch); err != nil {
			return nil, err
		}
		if merged, err = l.mergeObjects(ctx, old, patch); err != nil {
			return nil, err
		}
		// As in the library, merging changes the items of the list in place, and the order of what follows is that of this array.
		if old = merged[:len(old)]; !replaces {
			copy(l.old, merged)
		}
	}
	return l.arrange(merged, patch, old, func() (value.Kind, error) { return kind, nil })
}

// scalars returns the set of items.
func (l *list) scalars(of []value.Value) map[scalar]bool {
	out := make(map[scalar]bool, len(of))
	for _, item := range of {
		if id, ok := scalarOf(item); ok {
			out[id] = true
		}
	}
	return out
}

// directed carries out the directives of a patch. It returns the remaining items of the list, and the remaining items of the patch.
// replaces reports that the patch replaces the whole list.
//
// Items with a directive are not merged. An item that a delete names need not exist.
func (l *list) directed(patch []value.Value) (old, left []value.Value, replaces bool, err error) {
	gone := map[scalar]bool{}
	for _, item := range patch {
		switch said := item.Get(directive); {
		case said.IsAbsent():
			left = append(left, item)
		case said.Str() == saysDelete:
			key := item.Get(l.key)
			if key.IsAbsent() {
				return nil, nil, false, mergepatch.ErrNoMergeKey(anyMap(item), l.key)
			}
			if id, ok := scalarOf(key); ok {
				gone[id] = true
			}
		case said.Str() == saysReplace:
			replaces = true
		case said.Str() == saysMerge:
			return nil, nil, false, fmt.Errorf("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, false, mergepatch.ErrBadPatchType(said.ToAny(), anyMap(item))
		}
	}
	old = l.without(gone)
	if replaces {
		return left, nil, true, nil
	}
	return old, left, false, nil
}

// without returns the items that are not in gone. It also reproduces an effect of the library, which removes items in place: the kept items
// move to the front, and the tail keeps its old values. A later step of the library orders items by this array. So l.old keeps the same
// layout.
func (l *list) without(gone map[scalar]bool) []value.Value {
	if len(gone) == 0 {
		return l.old
	}
	kept := make([]value.Value, 0, len(l.old))
	for _, item := range l.old {
		if id, ok := l.id(item); !ok || !gone[id] {
			kept = append(kept, item)
		}
	}
	l.old = append(kept, l.old[len(kept):]...)
	return kept
}

// mergeObjects merges items of a patch into the items with the same keys, and appends the others.
//
// places has the indexes of each key, in order, so a patch of many items takes linear time. An item that the patch adds can be merged with
// a later item of the patch.
func (l *list) mergeObjects(ctx context.Context, old, patch []value.Value) ([]value.Value, error) {
	places := map[scalar][]int{}
	add := func(i int, item value.Value) {
		if id, ok := l.id(item); ok {
			places[id] = append(places[id], i)
		}
	}
	merged := append(make([]value.Value, 0, len(old)+len(patch)), old...)
	for i, item := range merged {
		add(i, item)
	}
	for _, item := range patch {
		key := item.Get(l.key)
		if key.IsAbsent() {
			return nil, mergepatch.ErrNoMergeKey(anyMap(item), l.key)
		}
		id, ok := scalarOf(key)
		if found := places[id]; ok && len(found) > 0 {
			i := found[0]
			object, err := mergeObject(ctx, merged[i], item, l.meta)
			if err != nil {
				return nil, err
			}
			if merged[i] = object; object.Get(l.key).IsAbsent() {
				places[id] = found[1:] // a null key, which the merge removed
			}
			continue
		}
		add(len(merged), item)
		merged = append(merged, item)
	}
	return merged, nil
}

// arrange returns all items in order. Items of first have the order of first, and others the order of second. Each other item comes before
// the first item of first that follows it in second.
//
// first is the patch or the order directive, and second is the list on the server. kind is asked late, because the library finds other
// errors before that.
func (l *list) arrange(all, first, second []value.Value, kind func() (value.Kind, error)) ([]value.Value, error) {
	inFirst, others, err := l.split(all, first)
	if err != nil {
		return nil, err
	}
	of, err := kind()
	if err != nil {
		return nil, err
	}
	if of == value.KindObject {
		for _, items := range [][]value.Value{inFirst, first, others, second} {
			if err := l.checkKeys(items); err != nil {
				return nil, err
			}
		}
	}
	l.sort(inFirst, l.places(first))
	places := l.places(second)
	l.sort(others, places)
	out := make([]value.Value, 0, len(all))
	// Merge the two sorted lists. An item without a place in second does not compare, and the one of first goes ahead.
	for len(others) > 0 && len(inFirst) > 0 {
		i, j := l.place(others[0], places), l.place(inFirst[0], places)
		if i >= 0 && j >= 0 && i < j {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, inFirst = append(out, inFirst[0]), inFirst[1:]
		}
	}
	return append(append(out, others...), inFirst...), nil
}

// place returns the place of an item, or -1.
func (l *list) place(item value.Value, places map[scalar]int) int {
	if id, ok := l.id(item); ok {
		if i, found := places[id]; found {
			return i
		}
	}
	return -1
}

// sort sorts items by place. Items with a delete directive, which another item brought along, come last. The library orders an item without
// a place before every other item, even another one without a place. That is no order, so the outcome depends on the algorithm of the
// standard library's sort.
func (l *list) sort(of []value.Value, places map[scalar]int) {
	type placed struct {
		value.Value
		at int
	}
	var stay []placed
	var leave []value.Value
	for _, item := range of {
		if item.Kind() == value.KindObject && item.Get(directive).Str() == saysDelete {
			leave = append(leave, item)
		} else {
			stay = append(stay, placed{item, l.place(item, places)})
		}
	}
	sort.SliceStable(stay, func(i, j int) bool { return stay[i].at < 0 || stay[j].at < 0 || stay[i].at < stay[j].at })
	for i := range stay {
		of[i] = stay[i].Value
	}
	copy(of[len(stay):], leave)
}

// split returns the items that are in by, and the others.
//
// The library looks at by only as far as it must, and fails at an item that is no object only if it gets there.
func (l *list) split(all, by []value.Value) (in, others []value.Value, err error) {
	if l.key == "" {
		set := l.scalars(by)
		for _, item := range all {
			if id, ok := scalarOf(item); ok && set[id] {
				in = append(in, item)
			} else {
				others = append(others, item)
			}
		}
		return in, others, nil
	}
	places, objects := l.places(by), 0
	for objects < len(by) && by[objects].Kind() == value.KindObject {
		objects++
	}
	for _, item := range all {
		if err := l.checkKeys([]value.Value{item}); err != nil {
			return nil, nil, err
		}
		switch at := l.place(item, places); {
		case at >= 0 && at < objects:
			in = append(in, item)
		case objects < len(by):
			return nil, nil, fmt.Errorf("value for key %v is not a map", objects)
		default:
			others = append(others, item)
		}
	}
	return in, others, nil
}

// checkKeys returns an error for the first item that is not an object with the key.
func (l *list) checkKeys(of []value.Value) error {
	for _, item := range of {
		if item.Kind() != value.KindObject {
			return mergepatch.ErrBadArgType(map[string]any(nil), item.ToAny())
		}
		if item.Get(l.key).IsAbsent() {
			return mergepatch.ErrNoMergeKey(anyMap(item), l.key)
		}
	}
	return nil
}

// checkOrder returns an error unless the items of a patch follow an order.
//
// The patch must be a subsequence of the order. Items with a delete directive do not count.
func (l *list) checkOrder(patch, order []value.Value) error {
	if len(order) == 0 || len(patch) == 0 {
		return nil
	}
	var left []value.Value
	for _, item := range patch {
		if l.key != "" {
			if item.Kind() != value.KindObject {
				return mergepatch.ErrBadArgType(map[string]any(nil), item.ToAny())
			}
			if item.Get(directive).Str() == saysDelete {
				continue
			}
		}
		left = append(left, item)
	}
	i, j := 0, 0
	for i < len(left) && j < len(order) {
		if left[i].Kind() == value.KindObject && !left[i].Get(directive).IsAbsent() {
			i++
			continue
		}
		if l.key != "" {
			if err := l.checkKeys([]value.Value{left[i], order[j]}); err != nil {
				return err
			}
		}
		a, comparable := l.id(left[i])
		if b, ok := l.id(order[j]); comparable && ok && a == b {
			i++
		}
		j++
	}
	if i < len(left) {
		//lint:ignore ST1005 these are the words of the library
		return fmt.Errorf("The order in patch list:\n%v\n doesn't match %s list:\n%v\n", anyList(patch), orderOf, anyList(order))
	}
	return nil
}

// anyList returns items in the form in which the library's errors print them.
func anyList(of []value.Value) []any {
	out := make([]any, len(of))
	for i, item := range of {
		out[i] = item.ToAny()
	}
	return out
}
