package kinds

import (
	"context"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// place is a value, absent or not, and where in an object it is: the number of a step in the report's way.
//
// A way is a list of steps rather than places that point to each other, so that walking costs no memory but that of the list.
type place struct {
	value.Value
	way *way
	id  int
}

// way has the steps that a walk took. Step 0 is to the object itself.
type way struct {
	ctx   context.Context // of the request for which the walk is made
	steps []step
	asked int  // how many thousands of steps had been taken when ctx was asked last
	ended bool // what ctx answered
}

// ways are those of walks that ended. The paths in what the walks found are their own.
var ways = sync.Pool{New: func() any { return &way{} }}

// newWay returns the way of a walk that begins. It is to be freed when the walk has ended.
func newWay(ctx context.Context) *way {
	w := ways.Get().(*way)
	*w = way{ctx: ctx, steps: append(w.steps[:0], step{})}
	return w
}

// root returns the place of the object itself.
func (w *way) root(object value.Value) place { return place{object, w, 0} }

// free ends the use of a way. No place of it may be used any more.
func (w *way) free() {
	w.ctx = nil
	ways.Put(w)
}

// step leads to a member of what step up leads to, to an item of it, or to what it has for a key.
//
//	kind of step   name        index
//	member         its name    isMember
//	item           ""          its index
//	key of a map   the key     isKey
type step struct {
	up    int
	name  string
	index int
}

// Indexes of steps that lead to no item of a list.
const (
	isMember = -1 // the step is to a member of an object
	isKey    = -2 // the step is to what a map has for a key
)

// below returns the place of v, one step below p.
func (p place) below(v value.Value, name string, index int) place {
	p.way.steps = append(p.way.steps, step{p.id, name, index})
	return place{v, p.way, len(p.way.steps) - 1}
}

// at returns a member.
func (p place) at(name string) place { return p.below(p.Get(name), name, isMember) }

// item returns an item of a list.
func (p place) item(i int) place { return p.below(p.Item(i), "", i) }

// entry returns what a map has for its key number i.
func (p place) entry(i int) place {
	m := p.Member(i)
	return p.below(m.Value, m.Name, isKey)
}

// with returns the place with another value.
func (p place) with(v value.Value) place {
	p.Value = v
	return p
}

// name returns the name of the last step to p.
func (p place) name() string { return p.way.steps[p.id].name }

// is reports whether anything is there.
func (p place) is() bool { return isSet(p.Value) }

// text returns a text that is there; "" otherwise.
func (p place) text(name string) string { return p.Get(name).Str() }

// none returns a place where nothing is.
func (p place) none() place { return place{way: p.way} }

// context returns the context of the request for which the walk is made.
func (p place) context() context.Context { return p.way.ctx }

// over reports whether that request has ended.
func (p place) over() bool { return p.way.over() }

// isSet reports whether a value is there, and not null.
func isSet(v value.Value) bool { return !v.IsAbsent() && !v.IsNull() }

// path returns where the place is, as the library that makes texts of it has it.
func (p place) path() *field.Path { return p.way.path(p.id) }

func (w *way) path(id int) *field.Path {
	if id == 0 {
		return nil
	}
	s := w.steps[id]
	above := w.path(s.up)
	switch {
	case s.index >= 0:
		return above.Index(s.index)
	case s.index == isKey:
		return above.Key(s.name)
	case above == nil:
		return field.NewPath(s.name)
	}
	return above.Child(s.name)
}

// indexes returns the indexes of the items of a list, or of the entries of a map, and stops early once the request has ended.
func (p place) indexes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range p.Len() {
			if p.way.over() || !yield(i) {
				return
			}
		}
	}
}

// over reports whether the request has ended for which the walk is made. It asks its context once in a thousand steps.
func (w *way) over() bool {
	if asked := len(w.steps) >> 10; asked > w.asked && !w.ended {
		w.asked, w.ended = asked, w.ctx.Err() != nil
	}
	return w.ended
}

// names are those that were met in a list, to find which come twice. Most lists are short: up to a few names are kept in an array, so that
// they cost no memory.
type names struct {
	few [8]string
	n   int
	all map[string]bool
}

// add notes a name, and reports whether it is new.
func (s *names) add(name string) bool {
	if s.has(name) {
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

// has reports whether a name was met.
func (s *names) has(name string) bool {
	for _, had := range s.few[:s.n] {
		if had == name {
			return true
		}
	}
	return s.all[name]
}

// each returns the names.
func (s *names) each() iter.Seq[string] {
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
