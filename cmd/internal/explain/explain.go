// Package explain finds out what there is to know about a path: the type that it leads to and where
// that is declared, what is above and below it, who owns it, and what part it plays in ownership.
//
// Its nouns are [Explanation] and [Role]. How an explanation reads is the business of package report.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Explanation is what there is to know about a path of a kind, or of an object.
type Explanation struct {
	Kind     schema.GVK
	View     secret.View // how the way, and what it leads to, are seen
	Way      types.Way   // its last step is what is explained
	Atomic   int         // how many of its steps lead to the atomic value that the last is inside of; 0 if it is in none
	Role     Role
	Declared string   // the type that declares it, with the way from there
	Source   string   // where the schema comes from
	Fields   []string // that objects there, or the items of the list, have

	*Found // nil without an object
}

// Found is what an object has at a path.
type Found struct {
	Object  *manifest.Object
	IsSet   bool                // whether there is a value
	Where   notice.Position     // where that stands; if there is none, where the object does
	Owners  []manifest.Holder   // of the value
	Through fieldpath.Path      // the atomic list or object whose owners they are; nil if they own the value itself
	Above   [][]manifest.Holder // the owners of what each step of the way leads to, except the last
	Below   []blame.Share       // who owns how much of what is inside
}

// Last returns the last step of the way.
func (x *Explanation) Last() types.Place { return x.Way[len(x.Way)-1] }

// InKind explains what s, taken as a path, leads to in kind, whose endpoint is e. A name at its end
// may have dots in it.
func InKind(e *types.Endpoint, kind schema.GVK, s selector.Selector) (*Explanation, error) {
	path, ok := s.Path()
	if !ok {
		return nil, fmt.Errorf("%s has wildcards, which select among the fields of objects, and there are none", s)
	}
	way, err := types.Follow(e.Typ, value.Value{}, false, secret.Open, path)
	for n := len(path) - 1; err != nil && n > 0; n-- {
		if longer, tryErr := types.Follow(e.Typ, value.Value{}, false, secret.Open, joinNames(path, n)); tryErr == nil {
			way, err = longer, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Kind, err)
	}
	return newExplanation(e, kind, secret.Open, way), nil
}

// joinNames returns path with the names from the n-th element on made one, with dots in it; path
// itself if any is no name.
func joinNames(path fieldpath.Path, n int) fieldpath.Path {
	var names []string
	for _, e := range path[n-1:] {
		if e.Kind() != fieldpath.KindField {
			return path
		}
		names = append(names, e.Name())
	}
	return append(slices.Clone(path[:n-1]), fieldpath.Field(strings.Join(names, ".")))
}

// newExplanation returns what the type of kind, whose endpoint is e, says of way, which is seen as view
// has it.
func newExplanation(e *types.Endpoint, kind schema.GVK, view secret.View, way types.Way) *Explanation {
	x := &Explanation{Kind: kind, View: view, Way: way, Atomic: way.Atomic(), Declared: way.Declared(e.Typ, view), Source: e.From}
	x.Role = roleOf(way, x.Atomic)
	inside := x.Last().Type
	if inside.List() != nil {
		inside = inside.List().Element()
	}
	if m := inside.Map(); m != nil {
		for _, f := range m.Fields() {
			x.Fields = append(x.Fields, f.Name)
		}
	}
	return x
}
