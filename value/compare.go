package value

import (
	"cmp"
	"math"
	"strings"
)

// Equality and order. Equal is called far more often than Compare. Its values often are the same
// storage, or differ in kind or length. So Equal first compares the words of the two values.
//
// Cost of both: linear in the smaller value. Parts that are the same storage cost nothing.

// Equal reports whether v and w are the same JSON document.
//
//   - Absent equals absent only, null equals null only.
//   - Numbers are equal if they are the same number, without rounding: 1 equals 1.0.
//   - Strings are compared byte by byte, lists item by item in order, objects member by member.
func (v Value) Equal(w Value) bool {
	if v.Same(w) {
		return true
	}
	if v.num == w.num && !v.isNumber() && !w.isNumber() { // same kind and length
		switch Kind(v.num & kindMask) {
		case KindString:
			return v.str() == w.str()
		case KindList:
			return equalItems(v.list(), w.list())
		case KindObject:
			return equalMembers(v.object(), w.object())
		}
	}
	return v.isNumber() && w.isNumber() && compareNumbers(v, w) == 0
}

// equalItems is Equal for the items of two lists of the same length.
func equalItems(a, b []Value) bool {
	b = b[:len(a)]
	for i := range a {
		if !equalStrings(a[i], b[i]) && !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// equalMembers is Equal for the members of two objects of the same length.
func equalMembers(a, b []Member) bool {
	b = b[:len(a)]
	for i := range a {
		if x, y := &a[i], &b[i]; x.Name != y.Name || !equalStrings(x.Value, y.Value) && !x.Value.Equal(y.Value) {
			return false
		}
	}
	return true
}

// equalStrings reports whether v and w are equal strings. Most values are strings, and the compiler
// inlines equalStrings, unlike Equal.
func equalStrings(v, w Value) bool {
	return v.num == w.num && v.num&kindMask == uint64(KindString) &&
		!v.isNumber() && !w.isNumber() && v.str() == w.str()
}

// Compare returns -1, 0 or 1 if v sorts before, with or after w. The order is total. The result is
// 0 exactly when v and w are Equal.
//
//  1. Kinds sort as numbers, strings, booleans, lists, objects, null, absent.
//  2. Numbers sort by their exact value, integers and floats together.
//  3. Strings sort bytewise, and false before true.
//  4. Lists sort by their first differing item. A prefix of a list sorts before the list.
//  5. Objects sort by their first difference in name order. If the names differ there, the object
//     with the smaller name sorts first. A prefix of an object's members sorts before the object.
func Compare(v, w Value) int {
	if v.Same(w) {
		return 0
	}
	if c := cmp.Compare(rank(v.Kind()), rank(w.Kind())); c != 0 {
		return c
	}
	switch v.Kind() {
	case KindInt, KindFloat:
		return compareNumbers(v, w)
	case KindString:
		return strings.Compare(v.str(), w.str())
	case KindBool:
		return cmp.Compare(v.num, w.num)
	case KindList:
		return compareItems(v.items(), w.items())
	case KindObject:
		return compareMembers(v.members(), w.members())
	}
	return 0
}

// rank returns the place of k in rule 1 of Compare.
func rank(k Kind) int {
	return [...]int{
		KindInt: 0, KindFloat: 0, KindString: 1, KindBool: 2,
		KindList: 3, KindObject: 4, KindNull: 5, KindAbsent: 6,
	}[k]
}

// compareItems implements rule 4 of Compare.
func compareItems(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareMembers implements rule 5 of Compare. Members are sorted by name, so the first difference
// in the slices is the first difference in name order:
//
//	{a:1 b:2}  {a:1 c:0}    b < c: the first object sorts first
//	{a:1}      {a:1 b:2}    the first object is a prefix: it sorts first
func compareMembers(a, b []Member) int {
	for i := range min(len(a), len(b)) {
		if c := strings.Compare(a[i].Name, b[i].Name); c != 0 {
			return c
		}
		if c := Compare(a[i].Value, b[i].Value); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareNumbers implements rule 2 of Compare, for two values of KindInt or KindFloat.
func compareNumbers(v, w Value) int {
	switch vInt, wInt := v.Kind() == KindInt, w.Kind() == KindInt; {
	case vInt && wInt:
		return cmp.Compare(v.Int(), w.Int())
	case vInt:
		return compareIntFloat(v.Int(), w.Float())
	case wInt:
		return -compareIntFloat(w.Int(), v.Float())
	}
	return cmp.Compare(v.Float(), w.Float())
}

// compareIntFloat compares i and f without rounding. As float64, 2^53 and 2^53+1 would be equal.
func compareIntFloat(i int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Floor(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 || whole == f {
		return c
	}
	return -1 // i is the floor of f, and f has a fraction
}
