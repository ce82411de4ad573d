package strategic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/deed-project/deed/value"
)

// Merging objects. A member of a patch replaces, merges or removes the member of the object, and names that begin with a dollar sign say
// how:
//
//	object   {a: 1, b: {c: 2, d: 3}, l: [x y]}
//	patch    {a: null, b: {c: 4}, $deleteFromPrimitiveList/l: [x]}
//	outcome  {b: {c: 4, d: 3}, l: [y]}
//
// Values are immutable, so a merge makes new objects along the changed paths and shares everything else.

// Directives of a patch, beside members and items.
const (
	directive     = "$patch"
	retainKeys    = "$retainKeys"
	deletionOf    = "$deleteFromPrimitiveList"
	orderOf       = "$setElementOrder"
	saysReplace   = "replace"
	saysDelete    = "delete"
	saysMerge     = "merge"
	keepsNamed    = "retainKeys" // a strategy without effect here
	replaceValues = "replace"
	mergeItems    = "merge"
)

// Apply returns object with patch applied. The tags of typed, a Go value of the object's type, say how lists are merged. The errors are the
// library's and work with [errors.Is].
//
// It modifies neither object nor patch. typed is only asked for its type. The time grows with the items of the patch times the list that each
// of them changes, so Apply ends with the error of ctx once ctx is done.
func Apply(ctx context.Context, object, patch value.Value, typed any) (value.Value, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return value.Value{}, err
	}
	return mergeObject(ctx, object, patch, meta)
}

// mergeObject returns object with the members of patch. An absent object counts as empty.
//
// The steps follow the library: a directive about the whole object, retainKeys, lists with an order, and then the members one by one. Lists
// with an order come first, because the order is part of merging them.
func mergeObject(ctx context.Context, object, patch value.Value, meta strategicpatch.LookupPatchMeta) (value.Value, error) {
	switch said := patch.Get(directive); {
	case said.IsAbsent():
	// Only the patch counts. Directives deeper in it stay, as in the library.
	case said.Str() == saysReplace:
		return patch.With(directive, value.Value{}), nil
	case said.Str() == saysDelete:
		return value.Object(), nil
	default:
		return value.Value{}, mergepatch.ErrBadPatchType(said.ToAny(), anyMap(patch))
	}
	if object.IsAbsent() {
		object = value.Object()
	}
	object, patch, err := retain(object, patch)
	if err != nil {
		return value.Value{}, err
	}
	if err := ctx.Err(); err != nil {
		return value.Value{}, err
	}
	m := members{object: object, patch: patch, meta: meta, done: map[string]value.Value{}}
	for name, said := range patch.Members() {
		if strings.HasPrefix(name, orderOf) {
			if err := m.order(ctx, name, said); err != nil {
				return value.Value{}, err
			}
		}
	}
	for name, said := range patch.Members() {
		if err := m.member(ctx, name, said); err != nil {
			return value.Value{}, err
		}
	}
	return m.merged(), nil
}

// retain removes the members of object that the patch does not list in its retainKeys directive, if it has one.
//
// retainKeys lists the names of all members that stay. A patch that changes a member that it does not list contradicts itself.
func retain(object, patch value.Value) (value.Value, value.Value, error) {
	said := patch.Get(retainKeys)
	if said.IsAbsent() {
		return object, patch, nil
	}
	patch = patch.With(retainKeys, value.Value{})
	if said.Kind() != value.KindList {
		return object, patch, mergepatch.ErrBadPatchFormatForRetainKeys
	}
	kept := map[string]bool{}
	for name := range said.Items() {
		if name.Kind() == value.KindString {
			kept[name.Str()] = true
		}
	}
	for name, change := range patch.Members() {
		if !kept[name] && !change.IsNull() && !strings.HasPrefix(name, deletionOf) && !strings.HasPrefix(name, orderOf) {
			return object, patch, mergepatch.ErrBadPatchFormatForRetainKeys
		}
	}
	var left []value.Member
	for name, member := range object.Members() {
		if kept[name] {
			left = append(left, value.Member{Name: name, Value: member})
		}
	}
	return value.Object(left...), patch, nil
}

// members merges the members of a patch into those of an object.
type members struct {
	object, patch value.Value
	meta          strategicpatch.LookupPatchMeta
	done          map[string]value.Value // outcomes of members; absent for removed ones
	ordered       map[string]bool        // members of patch that were merged with their order
}

// get returns the current value of a member.
//
// It may be the outcome of an earlier member of the patch: two directives can be about one list.
func (m *members) get(name string) value.Value {
	if v, ok := m.done[name]; ok {
		return v
	}
	return m.object.Get(name)
}

// merged returns the object with the outcomes of its members.
func (m *members) merged() value.Value {
	if len(m.done) == 0 {
		return m.object
	}
	out := make([]value.Member, 0, m.object.Len()+len(m.done))
	for name, member := range m.object.Members() {
		if _, done := m.done[name]; !done {
			out = append(out, value.Member{Name: name, Value: member})
		}
	}
	for name, member := range m.done {
		if !member.IsAbsent() {
			out = append(out, value.Member{Name: name, Value: member})
		}
	}
	return value.Object(out...)
}

// order merges a list and sorts it by the order directive of the patch.
//
// The library merges the list here, by the strategy of its tag, so member skips it. Without the list in the patch, the directive only
// sorts.
func (m *members) order(ctx context.Context, name string, order value.Value) error {
	if order.Kind() != value.KindList {
		return mergepatch.ErrBadArgType([]any(nil), order.ToAny())
	}
	of, err := target(name, orderOf, mergepatch.ErrBadPatchFormatForSetElementOrderList)
	if err != nil {
		return err
	}
	had, change := m.get(of), m.patch.Get(of)
	for _, v := range []value.Value{had, change} {
		if !v.IsAbsent() && v.Kind() != value.KindList {
			return mergepatch.ErrBadArgType([]any(nil), v.ToAny())
		}
	}
	inner, is, err := m.meta.LookupPatchMetadataForSlice(of)
	if err != nil {
		return err
	}
	strategy, err := strategyOf(is)
	if err != nil {
		return err
	}
	l := list{meta: inner, key: is.GetPatchMergeKey(), old: items(had)}
	// A patch that contradicts its own order is refused before anything is merged.
	if err := l.checkOrder(items(change), items(order)); err != nil {
		return err
	}
	var merged []value.Value
	switch {
	case had.IsAbsent() && change.IsAbsent():
		return nil
	case change.IsAbsent():
		merged = l.old
	case had.IsAbsent():
		merged = items(withoutDirectives(change))
	case strategy == mergeItems:
		if merged, err = l.merge(ctx, items(change), false); err != nil {
			return err
		}
	default:
		merged = items(change)
	}
	both, err := l.arrange(merged, items(order), l.old, func() (value.Kind, error) { return kindOf(items(had), items(change)) })
	if err != nil {
		return err
	}
	m.done[of] = value.List(both...)
	if m.ordered == nil {
		m.ordered = map[string]bool{}
	}
	m.ordered[of] = true
	return nil
}

// member merges a member of the patch.
//
//	change is null                          the member goes
//	no member, or of another kind           the change itself, without nulls and directives
//	an object, a list                       merged by the tag of the field
//	a scalar                                the change
func (m *members) member(ctx context.Context, name string, change value.Value) error {
	if m.ordered[name] || strings.HasPrefix(name, orderOf) {
		return nil
	}
	deletes := strings.HasPrefix(name, deletionOf)
	if deletes {
		of, err := target(name, deletionOf, mergepatch.ErrBadPatchFormatForPrimitiveList)
		if err != nil {
			return err
		}
		if of != "" {
			name = of
		}
	}
	had := m.get(name)
	var err error
	switch sameType := had.Kind() == change.Kind(); {
	case change.IsNull():
		m.done[name] = value.Value{}
	case had.IsAbsent() || !sameType:
		// There is nothing to delete from.
		if !deletes {
			m.done[name] = withoutDirectives(withoutNulls(change))
		}
	case had.Kind() == value.KindObject:
		m.done[name], err = m.inner(ctx, name, had, change)
	case had.Kind() == value.KindList:
		m.done[name], err = m.items(ctx, name, had, change, deletes)
	default:
		m.done[name] = change
	}
	return err
}

// inner merges an object into a member.
func (m *members) inner(ctx context.Context, name string, had, change value.Value) (value.Value, error) {
	inner, is, err := m.meta.LookupPatchMetadataForStruct(name)
	if err != nil {
		return value.Value{}, err
	}
	strategy, err := strategyOf(is)
	if err != nil || strategy == replaceValues {
		return change, err
	}
	return mergeObject(ctx, had, change, inner)
}

// items merges a list into a member, or deletes the list's items from it.
//
// A list without the strategy merge is replaced.
func (m *members) items(ctx context.Context, name string, had, change value.Value, deletes bool) (value.Value, error) {
	inner, is, err := m.meta.LookupPatchMetadataForSlice(name)
	if err != nil {
		return value.Value{}, err
	}
	strategy, err := strategyOf(is)
	if err != nil || strategy != mergeItems && !deletes {
		return change, err
	}
	l := list{meta: inner, key: is.GetPatchMergeKey(), old: items(had)}
	merged, err := l.merge(ctx, items(change), deletes)
	return value.List(merged...), err
}

// target returns the member that a directive is about: the text after a prefix and a slash.
func target(name, prefix string, problem error) (string, error) {
	before, of, found := strings.Cut(name, "/")
	if !found || before != prefix {
		return "", problem
	}
	return of, nil
}

// strategyOf returns the merge strategy of a member.
//
// A tag may have retainKeys beside another strategy. More than two strategies are an error of the type.
func strategyOf(is strategicpatch.PatchMeta) (string, error) {
	switch all := is.GetPatchStrategies(); {
	case len(all) == 0, len(all) == 1 && all[0] == keepsNamed:
		return "", nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 2 && all[0] == keepsNamed:
		return all[1], nil
	case len(all) == 2 && all[1] == keepsNamed:
		return all[0], nil
	default:
		return "", fmt.Errorf("unexpected patch strategy: %v", all)
	}
}

// withoutNulls returns v without null members at any depth.
func withoutNulls(v value.Value) value.Value {
	return rebuilt(v, func(_ string, member value.Value) bool { return !member.IsNull() }, nil)
}

// withoutDirectives returns v without directive objects, or an absent value if v is one.
func withoutDirectives(v value.Value) value.Value {
	says := func(v value.Value) bool { return v.Kind() == value.KindObject && !v.Get(directive).IsAbsent() }
	if says(v) {
		return value.Value{}
	}
	return rebuilt(v, func(_ string, member value.Value) bool { return !says(member) }, says)
}

// rebuilt returns v with the members that keep accepts and without the items that drop accepts, at any depth.
//
// keep is not asked about items, nor drop about members. A nil drop keeps all items.
func rebuilt(v value.Value, keep func(string, value.Value) bool, drop func(value.Value) bool) value.Value {
	switch v.Kind() {
	case value.KindObject:
		left := make([]value.Member, 0, v.Len())
		for name, member := range v.Members() {
			if keep(name, member) {
				left = append(left, value.Member{Name: name, Value: rebuilt(member, keep, drop)})
			}
		}
		return value.Object(left...)
	case value.KindList:
		left := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			if drop == nil || !drop(item) {
				left = append(left, rebuilt(item, keep, drop))
			}
		}
		return value.List(left...)
	}
	return v
}

// ErrNullItem says that a list to merge contains a null item.
var ErrNullItem = errors.New("a list to merge has an item that is null")

// items returns the items of a list, or none for another value.
func items(v value.Value) []value.Value {
	if v.Kind() != value.KindList {
		return nil
	}
	out := make([]value.Value, 0, v.Len())
	for item := range v.Items() {
		out = append(out, item)
	}
	return out
}

// anyMap returns an object in the form in which the library's errors print it.
func anyMap(v value.Value) map[string]any {
	m, _ := v.ToAny().(map[string]any)
	return m
}
