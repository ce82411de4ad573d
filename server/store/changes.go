package store

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
)

// Changes returns what happened after a revision on keys that begin with prefix, as Since does, for a cache that need not have seen each
// write. If the store does not know what happened, or after is 0, it reads all records and compares them with known: the keys of the cache,
// with their revisions. The batch then has a put for each record that is not known with its revision. For each known key that has no
// record, it has a deletion without a revision.
func Changes(ctx context.Context, s Store, prefix string, after Revision, known iter.Seq2[string, Revision]) (Batch, error) {
	if after != 0 {
		batch, err := s.Since(ctx, prefix, after)
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, ErrCompacted) {
			return batch, err
		}
	}
	page, err := s.Range(ctx, Range{Prefix: prefix})
	if err != nil {
		return Batch{}, err
	}
	batch, missing := Batch{Revision: page.Revision}, maps.Collect(known)
	for _, record := range page.Records {
		if missing[record.Key] != record.Revision {
			batch.Events = append(batch.Events, Event{Record: record})
		}
		delete(missing, record.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		batch.Events = append(batch.Events, Event{Record: Record{Key: key}, Deleted: true})
	}
	return batch, nil
}
