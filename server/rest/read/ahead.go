package read

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Lists of custom resources that a webhook converts. A call of the webhook takes many objects, so a list converts records before it visits
// them, and finds them in the cache afterwards:
//
//	page      a b c d e f      limit 4, nothing taken yet, a and c are cached
//	call      b d e f          as many as the list may still take
//	visited   a b c d          from the cache; if a selector drops some, the list goes on with e and f, and then makes the next call

// convertAhead reads the records of a page from the i-th on if a webhook must convert them. It converts as many in one call as the list may
// still take. It returns the number of records that the list can then take without another call.
//
// Without a webhook, all records of the page need no call. A record that the selector excludes by name is not converted. The error is that
// of the first record that the webhook did not convert; the records before it are cached all the same.
func (l *lister) convertAhead(page []store.Record, i int, taken int64) (ahead int, err error) {
	batch, ok := l.Version.Form.(catalog.Batch)
	if !ok {
		return len(page), nil
	}
	var records []store.Record
	var stored []managedfields.Object
	for ; i < len(page) && (l.limit == 0 || taken+int64(len(records)) < l.limit); i++ {
		record := page[i]
		if !l.named(record.Key) || l.recent.get(record, l.Version) != nil {
			continue
		}
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return i, Corrupt(record, err)
		}
		records, stored = append(records, record), append(stored, object)
	}
	loaded, err := batch.LoadAll(stored)
	for k, content := range loaded {
		stored[k].Content = WithVersion(content, records[k].Revision)
		l.Remember(Live{Object: stored[k], Record: records[k]})
	}
	if err != nil {
		return i, Corrupt(records[len(loaded)], err)
	}
	return i, nil
}
