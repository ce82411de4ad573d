package strategic

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/deed-project/deed/value"
)

// What the library leaves of a patch. It carries out a patch in place, and kube-apiserver shows what is left of it when it refuses the
// outcome:
//
//	object   {a: 1}
//	patch    {a: null, b: {c: 2, d: null}, $retainKeys: [b]}
//	left     {a: null, b: {c: 2}}

// Left returns what strategicpatch.StrategicMergeMapPatch leaves of a patch. [Apply] must succeed with the same arguments.
//
// Directives of an object are gone, and so are lists that were merged with an order. New members have lost their nulls and directives. Nulls
// that remove a member, and all that replaces a value, stay.
//
// Of items with the same key in one list, the library also leaves what later ones change in earlier ones. Here each is left as if it were
// alone.
func Left(object, patch value.Value, typed any) (value.Value, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return value.Value{}, err
	}
	return leftOfObject(object, patch, meta)
}

// leftOfObject is Left for an object of the patch that is merged into object.
func leftOfObject(object, patch value.Value, meta strategicpatch.LookupPatchMeta) (value.Value, error) {
	switch patch.Get(directive).Str() {
	case saysReplace:
		return patch.With(directive, value.Value{}), nil
	case saysDelete:
		return patch, nil
	}
	object, patch, err := retain(object, patch)
	if err != nil {
		return value.Value{}, err
	}
	left := make([]value.Member, 0, patch.Len())
	for name, change := range patch.Members() {
		if strings.HasPrefix(name, orderOf) || !patch.Get(orderOf+"/"+name).IsAbsent() {
			continue
		}
		of, deletes := strings.CutPrefix(name, deletionOf+"/")
		if change, err = leftOfMember(of, object.Get(of), change, deletes, meta); err != nil {
			return value.Value{}, err
		}
		left = append(left, value.Member{Name: name, Value: change})
	}
	return value.Object(left...), nil
}

// leftOfMember is Left for a member, which the object has as had. deletes tells that the change lists items to delete. The library merges them
// if they are objects.
func leftOfMember(name string, had, change value.Value, deletes bool, meta strategicpatch.LookupPatchMeta) (value.Value, error) {
	lookup := meta.LookupPatchMetadataForStruct
	switch kind := change.Kind(); {
	case had.Kind() != kind && deletes:
		return change, nil
	case had.Kind() != kind:
		return leftOfNew(withoutNulls(change)), nil
	case kind == value.KindList:
		lookup = meta.LookupPatchMetadataForSlice
	case kind != value.KindObject:
		return change, nil
	}
	inner, is, err := lookup(name)
	if err != nil {
		return value.Value{}, err
	}
	strategy, err := strategyOf(is)
	switch isList := change.Kind() == value.KindList; {
	case err != nil, isList && strategy != mergeItems && !deletes, !isList && strategy == replaceValues:
		return change, err
	case isList:
		return leftOfItems(&list{meta: inner, key: is.GetPatchMergeKey(), old: items(had)}, items(change))
	}
	return leftOfObject(had, change, inner)
}

// leftOfNew is Left for a value that an object gets as it is. A list loses directives in its items, and keeps items that are directives.
func leftOfNew(v value.Value) value.Value {
	if v.Kind() == value.KindList {
		kept := make([]value.Value, 0, v.Len())
		for item := range v.Items() {
			kept = append(kept, leftOfNew(item))
		}
		return value.List(kept...)
	}
	if without := withoutDirectives(v); !without.IsAbsent() {
		return without
	}
	return v
}

// leftOfItems is Left for the items of a patch that are merged into l.
func leftOfItems(l *list, patch []value.Value) (value.Value, error) {
	old, _, replaces, err := l.directed(patch)
	if l.key == "" || err != nil || replaces {
		return value.List(patch...), err
	}
	places, left := l.places(old), make([]value.Value, len(patch))
	for i, item := range patch {
		left[i] = item
		id, ok := l.id(item)
		at, found := places[id]
		if !ok || !found || !item.Get(directive).IsAbsent() {
			continue
		}
		if left[i], err = leftOfObject(old[at], item, l.meta); err != nil {
			return value.Value{}, err
		}
	}
	return value.List(left...), nil
}
