package explain

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
)

// InObject explains the fields of o, whose endpoint is e, that s selects. If s selects none, InObject reads s as a path. The path may be
// unset, and may omit the item of a list with only one item. InObject reports unreadable entries, which own nothing.
func InObject(c *types.Library, o *manifest.Object, e *types.Endpoint, s selector.Selector) ([]*Explanation, error) {
	paths, err := s.In(o.Content)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		path, ok := s.Path()
		if !ok {
			return nil, fmt.Errorf("%s selects nothing", s)
		}
		paths = append(paths, path)
	}
	var ways []types.Way
	for _, path := range paths {
		way, err := types.Follow(e.Typ, o.Content, true, o.View(), path)
		if err != nil {
			return nil, err
		}
		ways = append(ways, way)
	}
	all := newFinder(c, o, e)
	var out []*Explanation
	for _, way := range ways {
		x := newExplanation(e, o.GVK(), o.View(), way)
		x.Found = all.find(way)
		out = append(out, x)
	}
	return out, nil
}

// finder looks up values of an object by path.
type finder struct {
	object  *manifest.Object
	lines   []blame.Line
	parts   map[secret.Key]blame.Part
	entries *entries.Entries // the entries, for the owners of unset paths; nil until needed
}

// newFinder reads o, whose endpoint is e, with its owners.
func newFinder(c *types.Library, o *manifest.Object, e *types.Endpoint) *finder {
	f := &finder{object: o, parts: map[secret.Key]blame.Part{}}
	var err error
	f.lines, err = blame.Annotate(o, e)
	c.EntryProblems(o, err)
	for p := range blame.Parts(f.lines) {
		f.parts[secret.KeyOf(p.Path)] = p
	}
	return f
}

// find returns the facts about way in the object.
func (f *finder) find(way types.Way) *Found {
	path := way.Path()
	out := &Found{Object: f.object, Where: f.object.At(), Below: blame.Shares(f.lines, path)}
	for i := range path[:len(path)-1] {
		out.Above = append(out.Above, f.parts[secret.KeyOf(path[:i+1])].Owners)
	}
	if p, ok := f.parts[secret.KeyOf(path)]; ok {
		out.IsSet, out.Where, out.Owners, out.Through = true, p.At, p.Owners, p.Through
	} else {
		out.Owners = f.ownersAt(path)
	}
	return out
}

// ownersAt returns the owners of path, which the object lacks.
func (f *finder) ownersAt(path fieldpath.Path) []manifest.Holder {
	if f.entries == nil {
		all, _ := entries.Of(f.object) // errors are already reported
		f.entries = &all
	}
	return f.entries.OwnersAt(path)
}
