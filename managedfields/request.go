package managedfields

import (
	"cmp"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The values that steps pass to each other. Their types fix the order of the steps: ownership
// follows decoding, and an outcome follows the decision about conflicts.

// request is the task of a field manager, and never changes. Each step takes the request and the
// results of earlier steps, and returns its own results. A write produces them in this order:
//
//	request     the task
//	decoded     the managed fields from which the write starts
//	owned       the owners of the live object
//	merge.Plan  the effect of an apply, its conflicts undecided
//	outcome     the object to be stored
type request struct {
	*FieldManager
	live    Object        // as stored; its Content is Config.Empty if no object is stored
	creates bool          // whether no object is stored yet
	object  Object        // the applied configuration, or the new object
	manager merge.Manager // the writer
}

// owned holds the owners of the live object.
type owned struct {
	managers merge.Managers
	adapted  bool // all sets are adapted to the types of their versions
	invented bool // the live object has no managers: adopt made up the owner
}

// outcome is a write whose conflicts are decided.
type outcome struct {
	content  value.Value
	managers merge.Managers
	changed  bool        // whether content differs from the live object's
	checked  typed.Value // the checked object, which the next write need not check again
}

// request returns the request of the manager called name. The zero Object as live stands for an
// object that does not exist.
func (m *FieldManager) request(live, object Object, name string, op merge.Operation) *request {
	creates := live.Content.IsAbsent()
	if creates {
		live.Content = m.config.Empty
	} else if live.Entries != nil && live.Content.Get("metadata").Kind() != value.KindObject {
		live.Content = live.Content.With("metadata", value.Object()) // the place of its managed fields
	}
	return &request{FieldManager: m, live: live, creates: creates, object: object, manager: m.identity(name, op)}
}

// identity returns the manager that the endpoint knows by name. An empty name becomes "unknown".
//
//	S14  Sets stay in the version in which they were written, and objects are converted to it. An
//	     applier is the same manager in all versions, and has the version of its last apply. An
//	     updater is a different manager in each version.
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

// known returns a checked object of the kind that probably shares parts with the request's objects.
// It is the object that a field manager last checked for live or object, or else instead.
func (r *request) known(instead typed.Value) typed.Value {
	for _, m := range [...]*memory{r.live.memory, r.object.memory} {
		if last := m.get(); last != nil && last.Type() == r.typ {
			return *last
		}
	}
	return instead
}

// conforming returns v in the endpoint's version, as a value of the kind's type. known is a value
// of that type. Parts that v shares with known are not checked again. The error is a [*TypeError],
// or that of the converter.
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

// encode returns the outcome as an object to be stored. former holds the managed fields from which
// the write started.
func (r *request) encode(out outcome, former *decoded, source source) Object {
	o := Object{Content: out.content, Entries: encode(out.managers, former), source: source}
	o.memory = cmp.Or(r.object.memory, r.live.memory)
	if o.memory == nil {
		o.memory = new(memory)
	}
	checked := out.checked // a copy, so that the rest of the outcome can be freed
	o.memory.last.Store(&checked)
	return o
}
