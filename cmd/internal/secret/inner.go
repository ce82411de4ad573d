package secret

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

// Inner lists the differences inside two masked values that are replaced as a whole, such as atomic lists. Each line has the path of a
// difference, starting with name, and both sides of it:
//
//	rules[7].backendRefs[0].port: 80 -> 81
//	rules[9]: {"name":"x"} is removed
//
// Inner first skips the common beginning and end of two lists, and then pairs their items by index. So an inserted item is one difference.
// It returns at most limit lines, and more is the number of further lines. The cost is the size of both values times their depth.
func Inner(name string, live, result Value, limit int) (lines []string, more int) {
	d := innerDiff{}
	d.walk(name, live.shown, result.shown)
	if len(d.lines) > limit {
		return d.lines[:limit], len(d.lines) - limit
	}
	return d.lines, 0
}

type innerDiff struct{ lines []string }

func (d *innerDiff) add(way, format string, args ...any) {
	d.lines = append(d.lines, way+fmt.Sprintf(format, args...))
}

func (d *innerDiff) walk(way string, live, result value.Value) {
	switch {
	case live.Equal(result):
	case live.IsAbsent():
		d.add(way, ": %s is added", Value{result})
	case result.IsAbsent():
		d.add(way, ": %s is removed", Value{live})
	case live.Kind() == value.KindObject && result.Kind() == value.KindObject:
		d.members(way, live, result)
	case live.Kind() == value.KindList && result.Kind() == value.KindList:
		d.items(way, live, result)
	default:
		before, after := Texts(Value{live}, Value{result})
		d.add(way, ": %s -> %s", before, after)
	}
}

func (d *innerDiff) members(way string, live, result value.Value) {
	var names []string
	for name := range live.Members() {
		names = append(names, name)
	}
	for name := range result.Members() {
		if live.Get(name).IsAbsent() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.walk(way+"."+name, live.Get(name), result.Get(name))
	}
}

// items compares lists. The difference lies between a common beginning and a common end:
//
//	live    a b | c   | d      The items in the middle are paired. Surplus items are added or removed. Added items have their
//	result  a b | x y | d      new index, removed items their old one.
func (d *innerDiff) items(way string, live, result value.Value) {
	m, n, begin, end := live.Len(), result.Len(), 0, 0
	for begin < min(m, n) && live.Item(begin).Equal(result.Item(begin)) {
		begin++
	}
	for end < min(m, n)-begin && live.Item(m-1-end).Equal(result.Item(n-1-end)) {
		end++
	}
	for i := begin; i < max(m, n)-end; i++ {
		var before, after value.Value
		if i < m-end {
			before = live.Item(i)
		}
		if i < n-end {
			after = result.Item(i)
		}
		d.walk(fmt.Sprintf("%s[%d]", way, i), before, after)
	}
}
