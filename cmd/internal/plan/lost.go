package plan

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// replaced returns the losses of the atomic list or object that d replaces, or nil if d replaces none.
func (p *planner) replaced(d merge.Decision) *Replaced {
	t := types.TypeAt(p.Endpoint.Typ, d.Path)
	if d.Live.Equal(d.Result) || t == nil || d.Live.IsAbsent() {
		return nil
	}
	switch {
	case t.List() != nil && t.List().Topology() == schema.AtomicList && d.Live.Kind() == value.KindList:
		return &Replaced{List: true, Before: d.Live.Len(), Lost: lostItems(d.Live, d.Result)}
	case t.Map() != nil && t.Map().Atomic() && d.Live.Kind() == value.KindObject:
		return &Replaced{Before: d.Live.Len(), Lost: lostMembers(d.Live, d.Result)}
	}
	return nil
}

// newNulls returns the paths that are null in result and not in live. It skips items of lists that differ in length.
func newNulls(live, result value.Value, path fieldpath.Path) []fieldpath.Path {
	var out []fieldpath.Path
	switch {
	case result.Same(live):
	case result.IsNull() && !live.IsAbsent() && !live.IsNull():
		return []fieldpath.Path{path}
	case result.Kind() == value.KindObject && live.Kind() == value.KindObject:
		for name, member := range result.Members() {
			out = append(out, newNulls(live.Get(name), member, append(slices.Clone(path), fieldpath.Field(name)))...)
		}
	case result.Kind() == value.KindList && live.Kind() == value.KindList && result.Len() == live.Len():
		for i := range result.Len() {
			out = append(out, newNulls(live.Item(i), result.Item(i), append(slices.Clone(path), fieldpath.Index(i)))...)
		}
	}
	return out
}

// lostItems returns the number of items of the list live that its replacement result lacks. The cost is the size of both.
func lostItems(live, result value.Value) (lost int) {
	left := map[fieldpath.Element]int{} // the count of each item of result without a counterpart in live so far
	for item := range result.Items() {
		left[fieldpath.Item(item)]++
	}
	for item := range live.Items() {
		e := fieldpath.Item(item)
		if left[e]--; left[e] < 0 {
			lost++
		}
	}
	return lost
}

// lostMembers is lostItems for objects.
func lostMembers(live, result value.Value) (lost int) {
	for name := range live.Members() {
		if result.Get(name).IsAbsent() {
			lost++
		}
	}
	return lost
}
