// Package walk is how a server looks at an object: place by place, into a report of what is wrong and into warnings.
//
// A [Place] is a value with its path. A [Report] collects errors in the order in which kube-apiserver finds them, with its texts. Its
// methods are the rules that many kinds share, such as those for labels, ports and quantities. Package kinds has the rules of each kind.
package walk

import (
	"context"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Place is a value, absent or not, and where in an object it is: the number of a step of a walk.
//
// A walk has a list of its steps. Places that point to each other would cost memory for each step.
type Place struct {
	value.Value
	walk *Walk
	id   int
}

// Walk has the steps that a walk took. Step 0 is to the object itself.
type Walk struct {
	ctx   context.Context // of the request for which the walk is made
	steps []step
	asked int  // how many thousands of steps had been taken when ctx was asked last
	ended bool // what ctx answered
}

// walks have ended. What they found shares no memory with them.
var walks = sync.Pool{New: func() any { return &Walk{} }}

// New returns a walk that has not begun. The caller calls Free at its end.
func New(ctx context.Context) *Walk {
	w := walks.Get().(*Walk)
	*w = Walk{ctx: ctx, steps: append(w.steps[:0], step{})}
	return w
}

// Root returns the place of the object itself.
func (w *Walk) Root(object value.Value) Place { return Place{object, w, 0} }

// Free ends a walk. Its places must not be used afterwards.
func (w *Walk) Free() {
	w.ctx = nil
	walks.Put(w)
}

// step leads to a member of what step up leads to, to an item of it, or to what it has for a key.
//
//	kind of step   name        index
//	member         its name    IsMember
//	item           ""          its index
//	key of a map   the key     IsKey
type step struct {
	up    int
	name  string
	index int
}

// Indexes of steps that lead to no item of a list.
const (
	IsMember = -1 // the step is to a member of an object
	IsKey    = -2 // the step is to what a map has for a key
)

// Below returns the place of v, one step below p.
func (p Place) Below(v value.Value, name string, index int) Place {
	p.walk.steps = append(p.walk.steps, step{p.id, name, index})
	return Place{v, p.walk, len(p.walk.steps) - 1}
}

// At returns a member.
func (p Place) At(name string) Place { return p.Below(p.Get(name), name, IsMember) }

// Index returns an item of a list.
func (p Place) Index(i int) Place { return p.Below(p.Item(i), "", i) }

// Entry returns what a map has for its key number i.
func (p Place) Entry(i int) Place {
	m := p.Member(i)
	return p.Below(m.Value, m.Name, IsKey)
}

// WithValue returns the place with another value.
func (p Place) WithValue(v value.Value) Place {
	p.Value = v
	return p
}

// Name returns the name of the last step to p.
func (p Place) Name() string { return p.walk.steps[p.id].name }

// IsSet reports whether anything is there.
func (p Place) IsSet() bool { return IsSet(p.Value) }

// Text returns a text that is there; "" otherwise.
func (p Place) Text(name string) string { return p.Get(name).Str() }

// None returns a place where nothing is.
func (p Place) None() Place { return Place{walk: p.walk} }

// Context returns the context of the request for which the walk is made.
func (p Place) Context() context.Context { return p.walk.ctx }

// Over reports whether that request has ended.
func (p Place) Over() bool { return p.walk.over() }

// Path returns where the place is, as the library that makes texts of it has it.
func (p Place) Path() *field.Path { return p.walk.path(p.id) }

func (w *Walk) path(id int) *field.Path {
	if id == 0 {
		return nil
	}
	s := w.steps[id]
	above := w.path(s.up)
	switch {
	case s.index >= 0:
		return above.Index(s.index)
	case s.index == IsKey:
		return above.Key(s.name)
	case above == nil:
		return field.NewPath(s.name)
	}
	return above.Child(s.name)
}

// Indexes returns the indexes of the items of a list, or of the entries of a map, and stops early once the request has ended.
func (p Place) Indexes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range p.Len() {
			if p.walk.over() || !yield(i) {
				return
			}
		}
	}
}

// over reports whether the request has ended for which the walk is made. It asks its context once in a thousand steps.
func (w *Walk) over() bool {
	if asked := len(w.steps) >> 10; asked > w.asked && !w.ended {
		w.asked, w.ended = asked, w.ctx.Err() != nil
	}
	return w.ended
}

// Names are those that were met in a list, to find which come twice. Most lists are short: up to a few names are kept in an array, so that
// they cost no memory.
type Names struct {
	few [8]string
	n   int
	all map[string]bool
}

// Add notes a name, and reports whether it is new.
func (s *Names) Add(name string) bool {
	if s.Has(name) {
		return false
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.all == nil {
		s.all = map[string]bool{}
	}
	s.all[name] = true
	return true
}

// Has reports whether a name was met.
func (s *Names) Has(name string) bool {
	for _, had := range s.few[:s.n] {
		if had == name {
			return true
		}
	}
	return s.all[name]
}

// Each returns the names.
func (s *Names) Each() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range s.few[:s.n] {
			if !yield(name) {
				return
			}
		}
		for name := range s.all {
			if !yield(name) {
				return
			}
		}
	}
}
