package value

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// This file compares views. The order of kinds is numbers, strings, booleans, lists, maps, null, and values that cannot be
// documents.

// rank is the place of a kind in the order of kinds.
type rank uint8

const (
	rankFloat rank = iota
	rankInt
	rankString
	rankBool
	rankList
	rankMap
	rankNull
	rankNone
)

func rankOf(v Value) rank {
	switch {
	case v.IsFloat():
		return rankFloat
	case v.IsInt():
		return rankInt
	case v.IsString():
		return rankString
	case v.IsBool():
		return rankBool
	case v.IsList():
		return rankList
	case v.IsMap():
		return rankMap
	case v.IsNull():
		return rankNull
	}
	return rankNone
}

// number returns v, of rank r, as a number. It returns false if v is not a number.
func number(v Value, r rank) (float64, bool) {
	switch r {
	case rankFloat:
		return v.AsFloat(), true
	case rankInt:
		return float64(v.AsInt()), true
	}
	return 0, false
}

// Equals reports whether both values are equal. An integer and a float are equal if they are equal as floats.
func Equals(lhs, rhs Value) bool { return EqualsUsing(HeapAllocator, lhs, rhs) }

// EqualsUsing does the work of [Equals].
func EqualsUsing(a Allocator, lhs, rhs Value) bool {
	l, r := rankOf(lhs), rankOf(rhs)
	if l == rankFloat || r == rankFloat {
		x, ok := number(lhs, l)
		y, both := number(rhs, r)
		return ok && both && x == y
	}
	if l != r {
		return false
	}
	switch l {
	case rankInt:
		return lhs.AsInt() == rhs.AsInt()
	case rankString:
		return lhs.AsString() == rhs.AsString()
	case rankBool:
		return lhs.AsBool() == rhs.AsBool()
	case rankList:
		left, right := lhs.AsListUsing(a), rhs.AsListUsing(a)
		defer a.Free(left)
		defer a.Free(right)
		return left.EqualsUsing(a, right)
	case rankMap:
		left, right := lhs.AsMapUsing(a), rhs.AsMapUsing(a)
		defer a.Free(left)
		defer a.Free(right)
		return left.EqualsUsing(a, right)
	}
	return true
}

// Less reports whether lhs sorts before rhs: see [Compare].
func Less(lhs, rhs Value) bool { return Compare(lhs, rhs) < 0 }

// Compare returns -1, 0 or 1 as lhs sorts before, with or after rhs. Integers and floats are compared as floats.
func Compare(lhs, rhs Value) int { return CompareUsing(HeapAllocator, lhs, rhs) }

// CompareUsing does the work of [Compare].
func CompareUsing(a Allocator, lhs, rhs Value) int {
	l, r := rankOf(lhs), rankOf(rhs)
	if l == rankFloat || r == rankFloat {
		if x, ok := number(lhs, l); ok {
			if y, ok := number(rhs, r); ok {
				return FloatCompare(x, y)
			}
		}
	}
	if l != r {
		return cmp.Compare(l, r)
	}
	switch l {
	case rankInt:
		return IntCompare(lhs.AsInt(), rhs.AsInt())
	case rankString:
		return strings.Compare(lhs.AsString(), rhs.AsString())
	case rankBool:
		return BoolCompare(lhs.AsBool(), rhs.AsBool())
	case rankList:
		left, right := lhs.AsListUsing(a), rhs.AsListUsing(a)
		defer a.Free(left)
		defer a.Free(right)
		return ListCompareUsing(a, left, right)
	case rankMap:
		left, right := lhs.AsMapUsing(a), rhs.AsMapUsing(a)
		defer a.Free(left)
		defer a.Free(right)
		return MapCompareUsing(a, left, right)
	}
	return 0
}

// FloatCompare returns -1, 0 or 1 as lhs is smaller than, equal to or larger than rhs, and 0 if one is not a number.
func FloatCompare(lhs, rhs float64) int {
	switch {
	case lhs < rhs:
		return -1
	case lhs > rhs:
		return 1
	}
	return 0
}

// IntCompare returns -1, 0 or 1 as lhs is smaller than, equal to or larger than rhs.
func IntCompare(lhs, rhs int64) int { return cmp.Compare(lhs, rhs) }

// BoolCompare returns -1, 0 or 1 as lhs sorts before, with or after rhs; false sorts before true.
func BoolCompare(lhs, rhs bool) int {
	switch {
	case lhs == rhs:
		return 0
	case rhs:
		return -1
	}
	return 1
}

// ToString returns v as readable text. The members of a map come in any order and without separators.
func ToString(v Value) string {
	switch rankOf(v) {
	case rankNull:
		return "null"
	case rankFloat:
		return fmt.Sprint(v.AsFloat())
	case rankInt:
		return fmt.Sprint(v.AsInt())
	case rankString:
		return fmt.Sprintf("%q", v.AsString())
	case rankBool:
		return fmt.Sprint(v.AsBool())
	case rankList:
		l := v.AsList()
		items := make([]string, l.Length())
		for i := range items {
			items[i] = ToString(l.At(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	case rankMap:
		var b strings.Builder
		v.AsMap().Iterate(func(name string, member Value) bool {
			b.WriteString(name + "=" + ToString(member))
			return true
		})
		return b.String()
	}
	return "{{undefined}}"
}

// ListEquals reports whether both lists have equal items in the same order. Implementations of [List] may call it. Other
// callers should call lhs.Equals.
func ListEquals(lhs, rhs List) bool { return ListEqualsUsing(HeapAllocator, lhs, rhs) }

// ListEqualsUsing does the work of [ListEquals].
func ListEqualsUsing(a Allocator, lhs, rhs List) bool {
	if lhs.Length() != rhs.Length() {
		return false
	}
	equal := true
	pairs(a, lhs, rhs, func(l, r Value) bool {
		equal = EqualsUsing(a, l, r)
		return equal
	})
	return equal
}

// ListLess reports whether lhs sorts before rhs: see [ListCompare].
func ListLess(lhs, rhs List) bool { return ListCompare(lhs, rhs) < 0 }

// ListCompare returns -1, 0 or 1 as lhs sorts before, with or after rhs: by the first items that differ. A prefix of a list
// sorts before the list.
func ListCompare(lhs, rhs List) int { return ListCompareUsing(HeapAllocator, lhs, rhs) }

// ListCompareUsing does the work of [ListCompare].
func ListCompareUsing(a Allocator, lhs, rhs List) int {
	c := 0
	pairs(a, lhs, rhs, func(l, r Value) bool {
		switch {
		case l == nil:
			c = -1
		case r == nil:
			c = 1
		default:
			c = CompareUsing(a, l, r)
		}
		return c == 0
	})
	return c
}

// pairs calls f with the items of both lists, in order, until f returns false. nil stands for items beyond the end of the
// shorter list.
func pairs(a Allocator, lhs, rhs List, f func(l, r Value) bool) {
	left, right := lhs.RangeUsing(a), rhs.RangeUsing(a)
	defer a.Free(left)
	defer a.Free(right)
	for {
		inLeft, inRight := left.Next(), right.Next()
		if !inLeft && !inRight {
			return
		}
		var l, r Value
		if inLeft {
			_, l = left.Item()
		}
		if inRight {
			_, r = right.Item()
		}
		if !f(l, r) {
			return
		}
	}
}

// MapEquals reports whether both maps have the same names with equal members; nil equals nil only. Implementations of [Map] may
// call it. Other callers should call lhs.Equals.
func MapEquals(lhs, rhs Map) bool { return MapEqualsUsing(HeapAllocator, lhs, rhs) }

// MapEqualsUsing does the work of [MapEquals].
func MapEqualsUsing(a Allocator, lhs, rhs Map) bool {
	if lhs == nil || rhs == nil {
		return lhs == nil && rhs == nil
	}
	return lhs.Length() == rhs.Length() && MapZipUsing(a, lhs, rhs, Unordered, func(_ string, l, r Value) bool {
		return l != nil && r != nil && EqualsUsing(a, l, r)
	})
}

// MapLess reports whether lhs sorts before rhs: see [MapCompare].
func MapLess(lhs, rhs Map) bool { return MapCompare(lhs, rhs) < 0 }

// MapCompare returns -1, 0 or 1 as lhs sorts before, with or after rhs. The first difference in the order of names decides. If
// only one map has a name, that map sorts first. But if the other map has no more members, the other map sorts first.
func MapCompare(lhs, rhs Map) int { return MapCompareUsing(HeapAllocator, lhs, rhs) }

// MapCompareUsing does the work of [MapCompare].
func MapCompareUsing(a Allocator, lhs, rhs Map) int {
	left, right := mapLength(lhs), mapLength(rhs)
	c, passed := 0, 0
	MapZipUsing(a, lhs, rhs, LexicalKeyOrder, func(_ string, l, r Value) bool {
		switch {
		case passed == left:
			c = -1
		case passed == right:
			c = 1
		case l == nil:
			c = 1
		case r == nil:
			c = -1
		default:
			c = CompareUsing(a, l, r)
		}
		passed++
		return c == 0
	})
	return c
}

func mapLength(m Map) int {
	if m == nil {
		return 0
	}
	return m.Length()
}

// MapZip calls lhs.Zip(rhs, order, fn). Both maps may be nil.
func MapZip(lhs, rhs Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return MapZipUsing(HeapAllocator, lhs, rhs, order, fn)
}

// MapZipUsing does the work of [MapZip].
func MapZipUsing(a Allocator, lhs, rhs Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	switch {
	case lhs != nil:
		return lhs.ZipUsing(a, rhs, order, fn)
	case rhs != nil:
		return rhs.ZipUsing(a, nil, order, func(key string, r, l Value) bool { return fn(key, l, r) })
	}
	return true
}

// zip implements [Map.ZipUsing] for maps of any implementation. rhs may be nil.
func zip(a Allocator, lhs, rhs Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	switch order {
	case Unordered:
		return zipAnyOrder(a, lhs, rhs, fn)
	case LexicalKeyOrder:
		return zipSorted(a, lhs, rhs, fn)
	}
	panic("Unsupported map order")
}

func zipAnyOrder(a Allocator, lhs, rhs Map, fn func(key string, lhs, rhs Value) bool) bool {
	goOn := lhs.IterateUsing(a, func(name string, l Value) bool {
		if rhs == nil {
			return fn(name, l, nil)
		}
		r, ok := rhs.GetUsing(a, name)
		if !ok {
			return fn(name, l, nil)
		}
		defer a.Free(r)
		return fn(name, l, r)
	})
	if !goOn || rhs == nil {
		return goOn
	}
	return rhs.IterateUsing(a, func(name string, r Value) bool { return lhs.Has(name) || fn(name, nil, r) })
}

func zipSorted(a Allocator, lhs, rhs Map, fn func(key string, lhs, rhs Value) bool) bool {
	names := make([]string, 0, max(lhs.Length(), mapLength(rhs)))
	collect := func(name string, _ Value) bool {
		names = append(names, name)
		return true
	}
	lhs.IterateUsing(a, collect)
	if rhs != nil {
		rhs.IterateUsing(a, collect)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var l, r Value
		if v, ok := lhs.GetUsing(a, name); ok {
			l = v
		}
		if rhs != nil {
			if v, ok := rhs.GetUsing(a, name); ok {
				r = v
			}
		}
		goOn := fn(name, l, r)
		if l != nil {
			a.Free(l)
		}
		if r != nil {
			a.Free(r)
		}
		if !goOn {
			return false
		}
	}
	return true
}
