package managedfields

import (
	"cmp"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// What steps hand to each other. The types say in which order they can run: nothing is owned before
// it is decoded, and nothing is an outcome before conflicts are decided.

// request is what a field manager was asked to do. It never changes: the steps of a write take it
// and what the steps before them found out, and return what they find out themselves. In the order
// in which a write comes by them:
//
//	request     what was asked
//	decoded     the managed fields that the write starts from
//	owned       who owns the live object
//	merge.Plan  what an apply does, its conflicts undecided
//	outcome     what is to be stored
type request struct {
	*FieldManager
	live    Object        // as stored; its Content is that of Config.Empty when nothing is
	creates bool          // whether nothing is stored yet
	object  Object        // the applied configuration, or the new object
	manager merge.Manager // who writes, and how
}

// owned says who owns the live object.
type owned struct {
	managers merge.Managers
	adapted  bool // all sets are adapted to the types of their versions already
	invented bool // nobody manages the object: who owns it was made up
}

// outcome is a write whose conflicts are decided.
type outcome struct {
	content  value.Value
	managers merge.Managers
	changed  bool        // whether content differs from the live object's
	checked  typed.Value // what the next write of the object need not check again
}

// request returns the request of manager name. The zero Object as live stands for an object that
// does not exist.
func (m *FieldManager) request(live, object Object, name string, op merge.Operation) *request {
	creates := live.Content.IsAbsent()
	if creates {
		live.Content = m.config.Empty
	} else if live.Entries != nil && live.Content.Get("metadata").Kind() != value.KindObject {
		live.Content = live.Content.With("metadata", value.Object()) // where its managed fields are
	}
	return &request{FieldManager: m, live: live, creates: creates, object: object, manager: m.identity(name, op)}
}

// identity returns the manager that the endpoint knows by name; an empty name becomes "unknown".
//
//	S14  Sets stay in the version that they were written in, and objects are converted to it. An
//	     applier is the same in all versions and has the version of its last apply; an updater is
//	     another one in each version.
func (m *FieldManager) identity(name string, op merge.Operation) merge.Manager {
	if name == "" {
		name = "unknown"
	}
	id := merge.Manager{Name: name, Operation: op, Subresource: m.config.Subresource}
	if op == merge.Update {
		id.APIVersion = m.apiVersion
	}
	return id
}

// known returns an object of the kind that the request's objects probably share parts with: what a
// field manager found to conform when it last wrote the object, or else instead.
func (r *request) known(instead typed.Value) typed.Value {
	for _, m := range [...]*memory{r.live.memory, r.object.memory} {
		if last := m.get(); last != nil && last.Type() == r.typ {
			return *last
		}
	}
	return instead
}

// conforming returns v, converted to the endpoint's version, as a value of the kind's type. What it
// shares with known, a value of that type, is not checked again. The error is a [*TypeError], or
// that of the converter.
func (r *request) conforming(role string, known typed.Value, v value.Value, opts ...typed.Option) (typed.Value, error) {
	v, err := r.versioned(role, v)
	if err != nil {
		return typed.Value{}, err
	}
	out, err := typing.Revise(known, v, opts...)
	if err != nil {
		return typed.Value{}, &TypeError{Operation: r.manager.Operation, Role: role, Object: describe(v), Err: err}
	}
	return out, nil
}

// encode returns the outcome as what is to be stored. former is what the write began with.
func (r *request) encode(out outcome, former *decoded, source source) Object {
	o := Object{Content: out.content, Entries: encode(out.managers, former), source: source}
	o.memory = cmp.Or(r.object.memory, r.live.memory)
	if o.memory == nil {
		o.memory = new(memory)
	}
	checked := out.checked // alone: the rest of the outcome need not live on
	o.memory.last.Store(&checked)
	return o
}
