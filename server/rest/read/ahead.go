package read

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// convertAhead reads the records of a page from the i-th on if a webhook must convert them. It converts as many in one call as the list may
// still take. It returns the number of records that the list can then take without another call.
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
