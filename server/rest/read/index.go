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

// An index from labels and selectable fields to keys, kept by those who read it:
//
//	write   pod a {labels: {app: web}}      the index does not notice
//	list    app=web                         asks the store for the events since revision at, and takes them in
//
//	keys    {app web} -> a b    {.spec.nodeName n1} -> a    {} -> c        c has no fact: it may match anything
//	terms   a -> {app web} {.spec.nodeName n1}   ...                       to remove a without reading it
//
// The watch cache of kube-apiserver has such indexes for few fields, such as spec.nodeName of pods. Here any label or field is indexed once
// a list asks, and a server whose clients never select pays nothing.

// index finds the records of a version by a label or a selectable field. The first list that needs it builds it; later lists bring it up to
// date with the store. So writes cost nothing more. The zero index is empty and ready. It is safe for concurrent use.
//
// Invariants: the index is at revision at; key is in keys[t] exactly for the terms t of terms[key]; no keys[t] is empty.
type index struct {
	// mu guards all other fields. It is held while the index catches up, so that lists that begin at once catch up once.
	mu    sync.Mutex
	at    store.Revision // 0 before it is built
	keys  map[term]map[string]struct{}
	terms map[string][]term
}

// term is a label with its value, or a field with its value in the form that selectors compare. The name of a field begins with a dot,
// which no label does. The zero term belongs to objects without a fact, which may match anything.
type term struct{ name, value string }

// indexes holds the index of each version. The zero value is empty and ready. It is safe for concurrent use.
type indexes struct {
	mu sync.Mutex
	of map[*catalog.Version]*index
}

// get returns the index of a version, an empty one at first.
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

// drop removes the indexes of a resource.
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

// worthwhile is the factor by which an index must reduce the records. Reading records one by one costs more per record than reading a
// range.
const worthwhile = 8

// find returns, sorted, the keys that begin with prefix of the records that may match every requirement, and the revision of the index.
// Each element of all is a requirement: a record must have one of its terms. It returns false if the index would find too many.
//
// Its cost is the number of keys of the rarest requirement, plus the events since the last call.
//
// The other requirements are left to the selector. Intersecting their keys would cost more than looking at the few records that are left.
func (x *index) find(
	ctx context.Context, s store.Store, of records, prefix string, all [][]term,
) (keys []string, at store.Revision, ok bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.catchUp(ctx, s, of); err != nil {
		return nil, 0, false, err
	}
	fewest := slices.MinFunc(all, func(a, b []term) int { return cmp.Compare(x.count(a), x.count(b)) })
	// All records of the version count here, also those outside of prefix.
	if x.count(fewest)*worthwhile > len(x.terms) {
		return nil, 0, false, nil
	}
	// Records of the zero term may match as well. Sorting and compacting makes one key of several terms.
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

// count returns the number of records that may have one of the terms.
func (x *index) count(terms []term) int {
	n := len(x.keys[term{}])
	for _, t := range terms {
		n += len(x.keys[t])
	}
	return n
}

// catchUp brings the index to the latest revision of the store. For a record with several writes, it only reads the last text.
//
// If it fails, at stays as it was. The next call then takes in the same events again, which changes nothing: each event replaces the terms
// of its key.
func (x *index) catchUp(ctx context.Context, s store.Store, of records) error {
	batch, err := s.Since(ctx, of.prefix, x.at)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return err // the index could not catch up later
	// The store was asked first even for an empty index, because a store without Since must not be indexed.
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

// fill builds the index from the current records.
//
// All pages are at the revision of the first one. If it fails, at is 0 and the next call begins anew.
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

// add adds a record.
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

// remove removes the record of a key.
func (x *index) remove(key string) {
	for _, t := range x.terms[key] {
		if delete(x.keys[t], key); len(x.keys[t]) == 0 {
			delete(x.keys, t)
		}
	}
	delete(x.terms, key)
}
