package value

import (
	"cmp"
	"math"
	"strings"
)

// Equality and order. Equal is asked far more often than Compare, and often about values that are
// the same storage or differ in kind or length: it looks at the words of a value before anything
// else.
//
// Cost of both: linear in the smaller value, and nothing where two parts are the same storage.

// Equal reports whether v and w are the same JSON document.
//
//   - Absent equals absent only, null equals null only.
//   - Numbers are equal when they are the same number: 1 equals 1.0, and no rounding is done to
//     compare.
//   - Strings are equal byte by byte, lists item by item in order, objects member by member.
func (v Value) Equal(w Value) bool {
	if v.Same(w) {
		return true
	}
	if v.num == w.num && !v.isNumber() && !w.isNumber() { // of one kind and length
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

// equalItems is Equal for the items of two lists of one length.
func equalItems(a, b []Value) bool {
	b = b[:len(a)]
	for i := range a {
		if !equalStrings(a[i], b[i]) && !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// equalMembers is Equal for the members of two objects that have equally many.
func equalMembers(a, b []Member) bool {
	b = b[:len(a)]
	for i := range a {
		if x, y := &a[i], &b[i]; x.Name != y.Name || !equalStrings(x.Value, y.Value) && !x.Value.Equal(y.Value) {
			return false
		}
	}
	return true
}

// equalStrings reports whether v and w are strings, and equal. Unlike Equal it is inlined, for most
// values are strings.
func equalStrings(v, w Value) bool {
	return v.num == w.num && v.num&kindMask == uint64(KindString) &&
		!v.isNumber() && !w.isNumber() && v.str() == w.str()
}

// Compare orders all values: it returns -1, 0 or 1 as v sorts before, with or after w. It is a
// total order, and 0 exactly when v and w are Equal.
//
//  1. Kinds sort as numbers, strings, booleans, lists, objects, null, absent.
//  2. Numbers sort by their exact value, an integer with a float too.
//  3. Strings sort bytewise, and false before true.
//  4. Lists sort by their first differing item; a list that another begins with sorts before it.
//  5. Objects sort by their first difference in name order: at a name that only one has, the object
//     that has the smaller name sorts first; an object that another begins with sorts before it.
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

// rank is a kind's place in rule 1 of Compare.
func rank(k Kind) int {
	return [...]int{
		KindInt: 0, KindFloat: 0, KindString: 1, KindBool: 2,
		KindList: 3, KindObject: 4, KindNull: 5, KindAbsent: 6,
	}[k]
}

// compareItems is rule 4 of Compare.
func compareItems(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareMembers is rule 5 of Compare. As members are sorted by name, the first difference in the
// slices is the first difference in name order:
//
//	{a:1 b:2}  {a:1 c:0}    b < c: the first sorts before the second
//	{a:1}      {a:1 b:2}    all of the first, then an end: it sorts before
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

// compareNumbers is rule 2 of Compare, for two values of KindInt or KindFloat.
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

// compareIntFloat compares without rounding: converting i to a float64 would make neighbours of
// 2^53 equal.
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
