// Package work counts what the packages of the module do, so that tests can tell that an operation does no more than it must,
// without looking at a clock.
//
// Walks count in their own state, and tell at their end. As long as nobody records, that costs one atomic load per walk.
package work

import "sync/atomic"

// Counts is an amount of work.
type Counts struct {
	Values   int // parts of documents that were read or converted, and not taken from a document that was there
	Nodes    int // of typed values that were visited: validated, merged, compared, or looked at for their fields
	Elements int // of field sets that were made
	Sets     int // field sets that were read from fieldsV1, and not remembered
	Steps    int // nodes of field sets that were passed when two sets were combined
	Pairs    int // pairs of list items that were asked whether they are the same item, or of names which comes first
}

var recorder atomic.Pointer[record]

type record struct{ values, nodes, elements, sets, steps, pairs atomic.Int64 }

// Add adds c to what is being recorded, if anything is.
func Add(c Counts) {
	if r := recorder.Load(); r != nil {
		r.add(c)
	}
}

// add is what Add does when something is recorded. It is kept out of callers, so that Add itself is
// not: as long as nobody records, a walk pays for a load and no call.
//
//go:noinline
func (r *record) add(c Counts) {
	r.values.Add(int64(c.Values))
	r.nodes.Add(int64(c.Nodes))
	r.elements.Add(int64(c.Elements))
	r.sets.Add(int64(c.Sets))
	r.steps.Add(int64(c.Steps))
	r.pairs.Add(int64(c.Pairs))
}

// Record returns how much is done by the whole process while f runs. One recording is made at a time.
func Record(f func()) Counts {
	r := new(record)
	recorder.Store(r)
	f()
	recorder.Store(nil)
	return Counts{
		Values: int(r.values.Load()), Nodes: int(r.nodes.Load()), Elements: int(r.elements.Load()), Sets: int(r.sets.Load()),
		Steps: int(r.steps.Load()), Pairs: int(r.pairs.Load()),
	}
}
