package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// A lookup of one path is a walk of a set with this path, so that lookups and walks cannot disagree
// about where a path leads.

// at returns the value that v has at path, or absent. It returns the first of several items with
// one identity. It searches each list on the path from its beginning, so [Walk] is cheaper for many
// paths.
func (v Value) at(path fieldpath.Path) value.Value {
	if len(path) == 0 {
		return v.content
	}
	var out value.Value
	for step := range Walk(fieldpath.SetOf(path), []Value{v}) {
		out = step.Values[0]
	}
	return out
}
