// Package work counts the work of the packages of the module. Tests compare these counters, instead of a clock, with the
// necessary work of an operation.
//
// Walks count in their own state, and add their counts at their end. Without a recording, this costs one atomic load per walk.
package work

import "sync/atomic"

// Counts is an amount of work.
type Counts struct {
	Values   int // parts of documents that were read or converted, not shared with an earlier document
	Nodes    int // parts of typed values that were validated, merged, compared, or searched for fields
	Elements int // elements of new field sets
	Sets     int // field sets that were read from fieldsV1, not from a cache
	Steps    int // nodes of field sets that set algebra passed
	Pairs    int // comparisons of the identity of list items, and of the order of names
	Bytes    int // bytes that were passed to count the lines in front of a document
}

var recorder atomic.Pointer[record]

type record struct{ values, nodes, elements, sets, steps, pairs, bytes atomic.Int64 }

// Add adds c to the current recording, if there is one.
func Add(c Counts) {
	if r := recorder.Load(); r != nil {
		r.add(c)
	}
}

// add is the slow path of Add. It is not inlined, so that the compiler can inline Add: without a recording, a walk pays for a
// load and no call.
//
//go:noinline
func (r *record) add(c Counts) {
	r.values.Add(int64(c.Values))
	r.nodes.Add(int64(c.Nodes))
	r.elements.Add(int64(c.Elements))
	r.sets.Add(int64(c.Sets))
	r.steps.Add(int64(c.Steps))
	r.pairs.Add(int64(c.Pairs))
	r.bytes.Add(int64(c.Bytes))
}

// Record returns the work of the whole process while f runs. Only one recording runs at a time.
func Record(f func()) Counts {
	r := new(record)
	recorder.Store(r)
	f()
	recorder.Store(nil)
	return Counts{
		Values: int(r.values.Load()), Nodes: int(r.nodes.Load()), Elements: int(r.elements.Load()), Sets: int(r.sets.Load()),
		Steps: int(r.steps.Load()), Pairs: int(r.pairs.Load()), Bytes: int(r.bytes.Load()),
	}
}
