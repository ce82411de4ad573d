package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// One lookup. It is a walk of a set of one path, so that a lookup and a walk cannot disagree about
// where a path leads.

// at returns what v has at path, and absent when it has nothing there. Of items that are there
// several times it is the first. Each list on the way is searched from its beginning: whoever wants
// to know of many paths takes [Walk].
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
