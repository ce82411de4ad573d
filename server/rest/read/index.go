package read

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// index knows which records of a version have a label or a selectable field of a value. It is made when a list asks for it first, and
// catches up with the store when a list asks again: writes do not know of it. The zero index is none and ready. It is safe for
// concurrent use.
//
// Invariants: it is of the revision at; key is in keys[t] exactly for the terms t of terms[key]; no keys[t] is empty.
type index struct {
	mu    sync.Mutex
	at    store.Revision // 0 if it is not made yet
	keys  map[term]map[string]struct{}
	terms map[string][]term
}

// term is a label and its value, or a field and its value as selectors compare it. The names of fields begin with a dot, as no label
// does. The zero term is that of objects of whose text nothing is known: they may be anything.
type term struct{ name, value string }

// indexes are those of versions. The zero indexes are none and ready. They are safe for concurrent use.
type indexes struct {
	mu sync.Mutex
	of map[*catalog.Version]*index
}

func (x *indexes) get(v *catalog.Version) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of == nil {
		x.of = map[*catalog.Version]*index{}
	}
	if x.of[v] == nil {
		x.of[v] = &index{}
	}
	return x.of[v]
}

// drop forgets the indexes of a resource.
func (x *indexes) drop(resource *catalog.Resource) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.of, func(v *catalog.Version, _ *index) bool { return v.Resource == resource })
}

// records are the records of an index.
type records struct {
	prefix string // of the keys
	terms  func(store.Record) ([]term, error)
}

// pageSize is how many records are read at once: a list holds no more of the store than that.
const pageSize = 1000

// worthwhile is how many times more records there must be than those that an index finds, so that it is worth while to read these one by
// one.
const worthwhile = 8

// find returns, in order, the keys that begin with prefix of the records that may have, of each of some lists of terms, one of the terms,
// and of which revision that is: now. It returns false if it is no help: there are too many.
//
// Its cost is that of the keys of the list with the fewest, and of what happened since it was asked last.
func (x *index) find(
	ctx context.Context, s store.Store, of records, prefix string, all [][]term,
) (keys []string, at store.Revision, ok bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.catchUp(ctx, s, of); err != nil {
		return nil, 0, false, err
	}
	fewest := slices.MinFunc(all, func(a, b []term) int { return cmp.Compare(x.count(a), x.count(b)) })
	if x.count(fewest)*worthwhile > len(x.terms) {
		return nil, 0, false, nil
	}
	for _, t := range append(fewest, term{}) {
		for key := range x.keys[t] {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), x.at, true, nil
}

// count returns how many records may have one of some terms.
func (x *index) count(terms []term) int {
	n := len(x.keys[term{}])
	for _, t := range terms {
		n += len(x.keys[t])
	}
	return n
}

// catchUp brings the index to the revision of the store. Of a record that was written several times meanwhile it looks at the last text
// only.
func (x *index) catchUp(ctx context.Context, s store.Store, of records) error {
	batch, err := s.Since(ctx, of.prefix, x.at)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return err // the index could not catch up later
	case x.at == 0 || errors.Is(err, store.ErrCompacted):
		return x.fill(ctx, s, of)
	case err != nil:
		return err
	}
	last := make(map[string]store.Event, len(batch.Events))
	for _, e := range batch.Events {
		last[e.Key] = e
	}
	for key, e := range last {
		x.remove(key)
		if e.Deleted {
			continue
		}
		if err := x.add(of, e.Record); err != nil {
			return err
		}
	}
	x.at = batch.Revision
	return nil
}

// fill makes the index of what is stored now.
func (x *index) fill(ctx context.Context, s store.Store, of records) error {
	x.at, x.keys, x.terms = 0, map[term]map[string]struct{}{}, map[string][]term{}
	all := store.Range{Prefix: of.prefix, Limit: pageSize}
	for {
		page, err := s.Range(ctx, all)
		if err != nil {
			return err
		}
		for _, record := range page.Records {
			if err := x.add(of, record); err != nil {
				return err
			}
			all.After = record.Key
		}
		if all.At = page.Revision; page.Remaining == 0 {
			x.at = page.Revision
			return nil
		}
	}
}

// add puts a record in.
func (x *index) add(of records, record store.Record) error {
	terms, err := of.terms(record)
	if err != nil {
		return err
	}
	for _, t := range terms {
		if x.keys[t] == nil {
			x.keys[t] = map[string]struct{}{}
		}
		x.keys[t][record.Key] = struct{}{}
	}
	x.terms[record.Key] = terms
	return nil
}

// remove takes out what is there under a key.
func (x *index) remove(key string) {
	for _, t := range x.terms[key] {
		if delete(x.keys[t], key); len(x.keys[t]) == 0 {
			delete(x.keys, t)
		}
	}
	delete(x.terms, key)
}
