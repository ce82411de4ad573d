// Package explain collects the facts about a path: its type and declaration, the fields above and below it, its owners, and its role in
// ownership.
//
// Its nouns are [Explanation] and [Role]. Package report prints explanations.
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

// Explanation holds the facts about a path of a kind, or of an object.
type Explanation struct {
	Kind     schema.GVK
	View     secret.View // masks the way and the values
	Way      types.Way   // its last step is the explained field
	Atomic   int         // the number of steps to the atomic value around the last step; 0 if there is none
	Role     Role
	Declared string   // the type that declares it, with the way from there
	Source   string   // the source of the schema
	Fields   []string // the fields of the object, or of the items of the list

	*Found // nil without an object
}

// Found holds the facts about a path of an object.
type Found struct {
	Object  *manifest.Object
	IsSet   bool                // whether there is a value
	Where   notice.Position     // the position of the value, or else of the object
	Owners  []manifest.Holder   // of the value
	Through fieldpath.Path      // the atomic list or object with these owners; nil if they own the value itself
	Above   [][]manifest.Holder // the owners at each step of the way, except the last
	Below   []blame.Share       // the number of values of each owner below
}

// Last returns the last step of the way.
func (x *Explanation) Last() types.Place { return x.Way[len(x.Way)-1] }

// InKind explains the path s in kind, whose endpoint is e. The last name may contain dots.
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

// joinNames returns path with the names from the n-th element on joined by dots, or path itself if one of them is no name.
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

// newExplanation returns the facts that the type of kind, whose endpoint is e, has about way. view masks them.
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
