package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// definitions are the stored definitions as they were read last, and what became of each. The zero definitions read nothing yet.
//
// Thousands of definitions may be written one after the other, so that none may cost what all do. Those that are settled cost nothing: their
// status is stored as it should be, and no other definition can take away the names that they have.
type definitions struct {
	at        store.Revision           // up to which the store was read
	of        map[string]*definition   // by key
	names     map[string]*crd.Names    // that are accepted, by group
	unsettled map[*definition]struct{} // those whose status may be another one whenever something changes
}

// definition is a stored definition.
type definition struct {
	created, revision store.Revision
	stored            value.Value // as it was read
	now               value.Value // with the status that it has among the others
	gone              bool        // it was deleted

	resource *catalog.Resource  // what it defines, nil if that is not served
	source   value.Value        // what resource was made of
	unwatch  context.CancelFunc // ends the watches of resource
}

// catchUp reads what was stored since it was called last, and returns the definitions that changed by that, in the order in which they were
// created: those that were written or deleted, and those that have another status therefore. The error is about those that cannot be read,
// which stay what they were.
func (d *definitions) catchUp(ctx context.Context, s store.Store, prefix string, now func() time.Time) ([]*definition, error) {
	changed, err := d.read(ctx, s, prefix)
	if len(changed) == 0 {
		return nil, err
	}
	all := slices.Collect(maps.Keys(d.unsettled))
	for _, of := range changed {
		if _, known := d.unsettled[of]; !known {
			all = append(all, of)
		}
	}
	slices.SortFunc(all, inOrder)
	for d.accept(all, now()) {
	}
	return all, err
}

// inOrder compares definitions by when they were created.
func inOrder(a, b *definition) int { return cmp.Compare(a.created, b.created) }

// read reads what was stored since it was called last, and returns the definitions that were written or deleted. Of a store that does not
// know what happened since, it reads all.
func (d *definitions) read(ctx context.Context, s store.Store, prefix string) (changed []*definition, err error) {
	batch, err := s.Since(ctx, prefix, d.at)
	if d.at == 0 || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, store.ErrCompacted) {
		return d.readAll(ctx, s, prefix)
	}
	if err != nil {
		return nil, err
	}
	last := make(map[string]store.Event, len(batch.Events))
	for _, e := range batch.Events {
		last[e.Key] = e
	}
	var errs []error
	for key, e := range last {
		if e.Deleted {
			changed = append(changed, d.remove(key))
			continue
		}
		of, err := d.put(e.Record)
		changed, errs = append(changed, of), append(errs, err)
	}
	d.at = batch.Revision
	return withoutNil(changed), errors.Join(errs...)
}

// readAll reads all that is stored. What has the revision that is known is not parsed again.
func (d *definitions) readAll(ctx context.Context, s store.Store, prefix string) (changed []*definition, err error) {
	page, err := s.Range(ctx, store.Range{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	var errs []error
	there := make(map[string]bool, len(page.Records))
	for _, record := range page.Records {
		there[record.Key] = true
		of, err := d.put(record)
		changed, errs = append(changed, of), append(errs, err)
	}
	for key := range d.of {
		if !there[key] {
			changed = append(changed, d.remove(key))
		}
	}
	d.at = page.Revision
	return withoutNil(changed), errors.Join(errs...)
}

// withoutNil returns those that are definitions.
func withoutNil(all []*definition) []*definition {
	return slices.DeleteFunc(all, func(of *definition) bool { return of == nil })
}

// put takes a record, and returns its definition if it was written since.
func (d *definitions) put(record store.Record) (*definition, error) {
	of := d.of[record.Key]
	if of != nil && of.revision == record.Revision {
		return nil, nil
	}
	object, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", record.Key, err)
	}
	content, err := crd.Load(object.Content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", record.Key, err)
	}
	if d.of == nil {
		d.of, d.names, d.unsettled = map[string]*definition{}, map[string]*crd.Names{}, map[*definition]struct{}{}
	}
	if of == nil {
		of = &definition{}
		d.of[record.Key] = of
	} else {
		d.release(of)
	}
	of.created, of.revision, of.stored, of.now = record.Created, record.Revision, content, content
	d.take(of)
	return of, nil
}

// remove forgets the definition with a key, and returns it if there was one.
func (d *definitions) remove(key string) *definition {
	of := d.of[key]
	if of == nil {
		return nil
	}
	if d.release(of); d.names[of.group()].None() {
		delete(d.names, of.group())
	}
	of.gone = true
	delete(d.of, key)
	delete(d.unsettled, of)
	return of
}

// accept gives definitions the status that they have among the others, one after the other. It reports whether that may give one of them
// another status once more: a name was given to one or by one while another waits for a name. Once is enough, but where names are passed on
// from one that waits to another; then it is done as often as that happens, for all that wait.
func (d *definitions) accept(all []*definition, now time.Time) (again bool) {
	passed, waiting := false, false
	for _, of := range all {
		if of.gone {
			continue
		}
		d.release(of)
		status := crd.Accept(of.now, *d.names[of.group()], now)
		passed = passed || !status.Get("acceptedNames").Equal(of.now.Get("status", "acceptedNames"))
		of.now = of.now.With("status", status)
		d.take(of)
		waiting = waiting || !crd.Content(status)
		if crd.Content(status) && of.written() {
			delete(d.unsettled, of)
		} else {
			d.unsettled[of] = struct{}{}
		}
	}
	return passed && waiting
}

// take makes the names of a definition known to the others of its group, and release makes them free.
func (d *definitions) take(of *definition) {
	names := d.names[of.group()]
	if names == nil {
		names = &crd.Names{}
		d.names[of.group()] = names
	}
	names.Take(of.now)
}

func (d *definitions) release(of *definition) { d.names[of.group()].Release(of.now) }

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
func (d *definitions) unwritten() []definition {
	var out []definition
	for of := range d.unsettled {
		if !of.written() {
			out = append(out, *of)
		}
	}
	slices.SortFunc(out, func(a, b definition) int { return inOrder(&a, &b) })
	return out
}

// terminating yields the names of the definitions that are being deleted.
func (d *definitions) terminating() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, of := range d.of {
			if terminating(of.stored) && !yield(api.Meta(of.stored, "name")) {
				return
			}
		}
	}
}

// written reports whether the status is stored as it should be.
func (of *definition) written() bool { return of.now.Get("status").Equal(of.stored.Get("status")) }

func (of *definition) group() string { return of.now.Get("spec", "group").Str() }
