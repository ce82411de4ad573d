package controllers

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// definitions are the stored definitions as they were read last, and what became of each. The zero definitions read nothing yet.
//
// Thousands of definitions may be written one after the other, so that none may cost what all do. No definition can take away the names
// that another one has. So one that changes matters only to those that wait for a name which it had.
//
// For example, a and b both want the kind Widget, and a was first:
//
//	names    {Widget: 1}        accepted for a
//	waiting  {Widget: b}
//	a goes   become frees Widget, so b is put into next
//	settle   accepts b, which gets Widget; definitions that wait for the names that b gave up are next
//
// It is not safe for concurrent use: Definitions.serving guards it.
//
// Invariants: names counts the accepted names in now of each definition in of; d is in waiting[n] exactly for n in d.waits; after settle,
// unsettled has the definitions that are not written.
type definitions struct {
	at        store.Revision               // up to which the store was read
	of        map[string]*definition       // by key
	names     map[string]crd.Names         // that are accepted, by group
	waiting   map[wanted]set               // who waits for a name
	unsettled set                          // whose status is not stored as it should be
	next      queue                        // whose status may be another one by now
	versions  map[kschema.GroupVersion]int // in how many definitions each is served
}

// definition is a stored definition.
type definition struct {
	created, revision store.Revision
	stored            value.Value // as it was read
	now               value.Value // with the status that it has among the others
	waits             []wanted    // the names that it wants and has not
	gone              bool        // it was deleted
	queued            bool        // it is in the queue
	seen, unstored    crd.Seen    // as of the stored status, and of the status in now

	versions []kschema.GroupVersion // that it serves, as they are counted
	resource *catalog.Resource      // what it defines, nil if that is not served
	source   value.Value            // what resource was made of
	unwatch  context.CancelFunc     // ends the watches of resource
}

// set is a set of definitions.
type set map[*definition]struct{}

// wanted is a name that is wanted in a group.
type wanted struct {
	group string
	crd.Name
}

// queue is a heap of definitions, in the order in which they were created: heap.Interface.
//
// The order matters: of two definitions that wait for a name, the one that was created first gets it.
type queue []*definition

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, k int) bool { return q[i].created < q[k].created }
func (q queue) Swap(i, k int)      { q[i], q[k] = q[k], q[i] }
func (q *queue) Push(of any)       { *q = append(*q, of.(*definition)) }

// Pop removes the last one.
func (q *queue) Pop() any {
	last := len(*q) - 1
	of := (*q)[last]
	*q = (*q)[:last]
	return of
}

// catchUp reads what was stored since it was called last, and returns the definitions that changed by that, in the order in which they were
// created: those that were written or deleted, and those that may have another status therefore. The error is about those that cannot be
// read, which stay what they were.
func (d *definitions) catchUp(ctx context.Context, s store.Store, prefix string, now func() time.Time) ([]*definition, error) {
	changed := set{}
	err := d.read(ctx, s, prefix, changed)
	d.settle(changed, now)
	return changed.inOrder(), err
}

// count counts the group versions that definitions serve, and returns those that the first one begins or the last one ceases to serve.
func (d *definitions) count(changed []*definition) (out []kschema.GroupVersion) {
	if d.versions == nil {
		d.versions = map[kschema.GroupVersion]int{}
	}
	for _, of := range changed {
		was := of.versions
		of.versions = nil
		if !of.gone {
			of.versions = crd.ServedVersions(of.now)
		}
		if slices.Equal(was, of.versions) {
			continue
		}
		for _, gv := range of.versions {
			if d.versions[gv]++; d.versions[gv] == 1 {
				out = append(out, gv)
			}
		}
		for _, gv := range was {
			if d.versions[gv]--; d.versions[gv] == 0 {
				delete(d.versions, gv)
				out = append(out, gv)
			}
		}
	}
	return out
}

// settle looks at definitions until none may have another status, adds them to those that it is given, and returns how often it looked.
func (d *definitions) settle(looked set, now func() time.Time) (times int) {
	for ; len(d.next) > 0; times++ {
		of := heap.Pop(&d.next).(*definition)
		if of.queued = false; !of.gone {
			d.accept(of, now())
			looked[of] = struct{}{}
		}
	}
	return times
}

// inOrder returns the definitions in the order in which they were created.
func (s set) inOrder() []*definition {
	return slices.SortedFunc(maps.Keys(s), func(a, b *definition) int { return cmp.Compare(a.created, b.created) })
}

// read reads what was stored since it was called last, and adds the definitions that were written or deleted to changed.
//
// Of several writes of a definition, only the last one matters.
func (d *definitions) read(ctx context.Context, s store.Store, prefix string, changed set) error {
	batch, err := store.Changes(ctx, s, prefix, d.at, d.known())
	if err != nil {
		return err
	}
	last := make(map[string]store.Event, len(batch.Events))
	for _, e := range batch.Events {
		last[e.Key] = e
	}
	var errs []error
	for key, e := range last {
		if e.Deleted {
			d.remove(key, changed)
			continue
		}
		errs = append(errs, d.put(e.Record, changed))
	}
	d.at = batch.Revision
	return errors.Join(errs...)
}

// known yields the keys of the definitions with their revisions.
func (d *definitions) known() iter.Seq2[string, store.Revision] {
	return func(yield func(string, store.Revision) bool) {
		for key, of := range d.of {
			if !yield(key, of.revision) {
				return
			}
		}
	}
}

// put takes a record, and adds its definition to changed if it was written since.
//
// Accepted names that are not stored yet stay: the stored ones may have a name that was given up, and that another definition has got
// meanwhile.
func (d *definitions) put(record store.Record, changed set) error {
	of := d.of[record.Key]
	if of != nil && of.revision == record.Revision {
		return nil
	}
	object, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", record.Key, err)
	}
	content, err := crd.Load(object.Content)
	if err != nil {
		return fmt.Errorf("%s: %w", record.Key, err)
	}
	// The definition was deleted and created anew since it was read.
	if of != nil && of.created != record.Created {
		d.remove(record.Key, changed)
		of = nil
	}
	if d.of == nil {
		d.of, d.names, d.waiting, d.unsettled = map[string]*definition{}, map[string]crd.Names{}, map[wanted]set{}, set{}
	}
	if of == nil {
		of = &definition{created: record.Created}
		d.of[record.Key] = of
	}
	now := content
	if names := of.now.Get("status", "acceptedNames"); !names.Equal(of.stored.Get("status", "acceptedNames")) {
		now = content.With("status", content.Get("status").With("acceptedNames", names))
	}
	of.revision, of.stored = record.Revision, content
	d.become(of, now)
	d.look(of)
	changed[of] = struct{}{}
	return nil
}

// remove forgets the definition with a key, and adds it to changed if there was one.
//
// Its resource stays in it, so that Definitions can end what was served.
func (d *definitions) remove(key string, changed set) {
	of := d.of[key]
	if of == nil {
		return
	}
	d.become(of, of.now.With("status", value.Value{}))
	d.wait(of, nil)
	of.gone = true
	delete(d.of, key)
	delete(d.unsettled, of)
	changed[of] = struct{}{}
}

// accept gives a definition the status that it has among the others.
//
// A name that it gives up may be one that it waited for itself, in another role. So the status is looked at until it stays.
func (d *definitions) accept(of *definition, at time.Time) {
	for {
		status, seen := crd.Accept(of.now, d.names[of.group()], of.seen, at)
		if seen != of.seen {
			of.unstored = seen
		}
		if status.Equal(of.now.Get("status")) {
			break
		}
		d.become(of, of.now.With("status", status))
	}
	var missing []crd.Name
	if !crd.HasNames(of.now) {
		missing = without(crd.NamesOf(of.now.Get("spec", "names")), crd.NamesOf(of.now.Get("status", "acceptedNames")))
	}
	d.wait(of, missing)
	if of.written() {
		of.seen = of.unstored
		delete(d.unsettled, of)
	} else {
		d.unsettled[of] = struct{}{}
	}
}

// become gives a definition another content. Who waits for a name that it had, and has no more, is to be looked at.
//
// of.now is the zero Value for a new definition, which has no names.
func (d *definitions) become(of *definition, content value.Value) {
	group := content.Get("spec", "group").Str()
	names := d.names[group]
	if names == nil {
		names = crd.Names{}
		d.names[group] = names
	}
	names.Release(of.now)
	names.Take(content)
	if len(names) == 0 {
		delete(d.names, group)
	}
	freed := without(crd.NamesOf(of.now.Get("status", "acceptedNames")), crd.NamesOf(content.Get("status", "acceptedNames")))
	of.now = content
	for _, name := range freed {
		for waiter := range d.waiting[wanted{group, name}] {
			d.look(waiter)
		}
	}
}

// look puts a definition into the queue, unless it is there.
func (d *definitions) look(of *definition) {
	if !of.queued {
		of.queued = true
		heap.Push(&d.next, of)
	}
}

// wait has a definition wait for names, and for no others.
func (d *definitions) wait(of *definition, names []crd.Name) {
	for _, name := range of.waits {
		if delete(d.waiting[name], of); len(d.waiting[name]) == 0 {
			delete(d.waiting, name)
		}
	}
	of.waits = of.waits[:0]
	for _, name := range names {
		name := wanted{of.group(), name}
		of.waits = append(of.waits, name)
		if d.waiting[name] == nil {
			d.waiting[name] = set{}
		}
		d.waiting[name][of] = struct{}{}
	}
}

// without returns the names that are not among others.
func without(names, others []crd.Name) []crd.Name {
	return slices.DeleteFunc(names, func(name crd.Name) bool { return slices.Contains(others, name) })
}

// resources returns what the definitions define, in no order.
func (d *definitions) resources() []*catalog.Resource {
	var out []*catalog.Resource
	for _, of := range d.of {
		if of.resource != nil {
			out = append(out, of.resource)
		}
	}
	return out
}

// unwritten returns copies of the definitions whose status is not stored as it should be, in the order in which they were created.
//
// They are copies, since the lock is not held while they are written.
func (d *definitions) unwritten() []definition {
	var out []definition
	for _, of := range d.unsettled.inOrder() {
		out = append(out, *of)
	}
	return out
}

// terminating yields the names of the definitions that are being deleted.
func (d *definitions) terminating() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, of := range d.of {
			if registry.IsTerminating(of.stored) && !yield(api.Meta(of.stored, "name")) {
				return
			}
		}
	}
}

// written reports whether the status is stored as it should be.
func (of *definition) written() bool { return of.now.Get("status").Equal(of.stored.Get("status")) }

// group returns the group of the resource.
func (of *definition) group() string { return of.now.Get("spec", "group").Str() }
