package read

import (
	stderrors "errors"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Which records a list reads. The ways, from the cheapest to the one that always works:
//
//	only    metadata.name=x, in one namespace    one key
//	found   app=web, spec.nodeName=n             the keys of an index, if they are few
//	Range   anything else                        all records below the prefix, a page at a time
//
// All of them give candidates; the selector decides about each record afterwards. So an index may err on the side of too many.

// next returns the next page of candidate records: those that an index finds for the selectors, or else all.
//
// The first two ways give the whole list in one page, so they are tried only for the first page.
func (l *lister) next(taken int64) (store.Page, error) {
	if first := l.first; first != nil {
		l.first = nil
		return *first, nil
	}
	if l.after == "" {
		if key, ok := l.only(); ok {
			return l.one(key)
		}
		if page, ok, err := l.found(); ok || err != nil {
			return page, err
		}
	}
	// If all records are selected, read no more of them than the list may still take.
	limit := int64(pageSize)
	if l.limit > 0 && l.selector.all {
		limit = min(limit, l.limit-taken)
	}
	return l.Store.Range(l.ctx, store.Range{Prefix: l.prefix, After: l.after, Limit: int(limit), At: l.at})
}

// only returns the key of the object if the list is restricted to one name, and to one namespace if there are namespaces.
func (l *lister) only() (string, bool) {
	name, ok := l.selector.fields.RequiresExactMatch("metadata.name")
	return l.prefix + name, ok && (!l.Version.Namespaced || l.prefix != l.Version.KeyPrefix(""))
}

// one returns the page with the record of a key.
//
// A range with the key as its prefix begins with the record of the key, or with one of a longer key, which is dropped. Unlike Get, it says
// at which revision.
func (l *lister) one(key string) (store.Page, error) {
	page, err := l.Store.Range(l.ctx, store.Range{Prefix: key, Limit: 1, At: l.at})
	if len(page.Records) > 0 && page.Records[0].Key != key {
		page.Records = nil
	}
	page.Remaining = 0
	return page, err
}

// found returns the page of the records that an index finds. It returns false if no index helps or the list is not at the latest revision.
// It also does if a limit may end the list before the last record.
//
// The keys are of one revision, and the records are read at that revision, so that the list is consistent. If it is compacted meanwhile,
// the caller reads all records instead. A webhook may change labels and fields, so objects that it converts have no index.
func (l *lister) found() (page store.Page, ok bool, err error) {
	terms := l.selector.terms()
	if _, converted := l.Version.Form.(catalog.Batch); l.at != 0 || len(terms) == 0 || converted {
		return page, false, nil
	}
	keys, at, ok, err := l.indexes.get(l.Version).find(l.ctx, l.Store, records{l.Version.Prefix, l.termsOf}, l.prefix, terms)
	switch {
	case stderrors.Is(err, stderrors.ErrUnsupported):
		return page, false, nil
	case !ok || err != nil || l.limit > 0 && int64(len(keys)) >= l.limit:
		return page, false, err
	}
	for _, key := range keys {
		record, err := l.Store.Get(l.ctx, key, at)
		if stderrors.Is(err, store.ErrCompacted) {
			return page, false, nil
		}
		if err != nil {
			return page, false, err
		}
		page.Records = append(page.Records, record)
	}
	page.Revision = at
	return page, true, nil
}

// termsOf returns the terms of a record: the zero term if there is no fact about its text.
//
// Without a fact, labels and fields cannot be looked up in the text. Then each list has to look at the object itself.
func (l *lister) termsOf(record store.Record) ([]term, error) {
	known, err := l.known(record)
	if err != nil || known == nil {
		return []term{{}}, err
	}
	return termsOf(&inText{record, known}), nil
}
