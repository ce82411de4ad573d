package read

import (
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// List answers with the objects of a collection, by key.
//
//	options   parse the query
//	at        determine the revision
//	range     read records of the store page by page
//	select    keep those that match the selectors, up to the limit
//
// The cost grows with the number of objects in the collection, or in the pages that are read. All of them are held until the answer is
// sent.
//
// A list that is held in memory until it is sent takes room from all such lists; see room.go. The share is given back when the answer is
// sent, or here if there is none.
func (b *Reader) List(q *rest.Request) (_ *rest.Answer, err error) {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return nil, err
	}
	l, err := b.newLister(q, options)
	if err != nil {
		return nil, err
	}
	held, done := &share{of: &b.room}, false
	defer func() {
		if !done {
			held.leave()
		}
	}()
	l.held = held
	list, err := l.list()
	if err != nil {
		return nil, err
	}
	done = true
	return &rest.Answer{Code: http.StatusOK, List: list, Converted: true, Release: held.leave}, nil
}

// Objects returns the objects in the collection of a request that options select, as they are at the moment.
//
// It takes no room and answers nothing: it is for the server's own needs, such as deleting a collection.
func (b *Reader) Objects(q *rest.Request, options api.ListOptions) (*rest.List, error) {
	l, err := b.newLister(q, options)
	if err != nil {
		return nil, err
	}
	return l.list()
}

// list reads the objects.
func (l *lister) list() (*rest.List, error) {
	items := []value.Value{}
	end, err := l.each(l.objects(func(object value.Value) error {
		items = append(items, object)
		return nil
	}))
	end.Items = items
	return &end, err
}

// objects returns a function for each that decodes records and passes selected objects to take.
//
// With a fact, each has matched the text already. The room is taken before the object is kept.
func (l *lister) objects(take func(object value.Value) error) func(store.Record, *fact) (bool, error) {
	return func(record store.Record, known *fact) (bool, error) {
		o, err := l.read(record)
		if err != nil || known == nil && !l.selector.matches(o.Content) {
			return false, err
		}
		object, err := o.document()
		if err == nil && l.held != nil {
			err = l.held.hold(len(record.Text))
		}
		if err != nil {
			return false, err
		}
		return true, take(object)
	}
}

// each calls take with the records of the list until the limit is reached or no record is left. take reports whether it used the record.
// known is the fact about a record that is certain to match; nil leaves the check to take. each returns the list's metadata.
//
// The cost grows with the number of visited records. All have one revision. A record that cannot be read is left out until the end, so that the
// error names all of these.
//
// It ends a page exactly at the limit, and only if records are left: whether one of them matches is not looked at. So the last page of a
// list with a selector may be empty, as in kube-apiserver.
func (l *lister) each(take func(record store.Record, known *fact) (bool, error)) (rest.List, error) {
	if err := l.wait(); err != nil {
		return rest.List{}, err
	}
	taken := int64(0)
	for {
		page, err := l.next(taken)
		if err != nil {
			return rest.List{}, l.failed(err)
		}
		// The first page determines the revision. Later pages are read at the same one, so that the list is a snapshot.
		if l.at == 0 {
			l.at = page.Revision
		}
		ahead := 0 // number of records that need no further conversion call
		// Look up the facts of the whole page under one lock.
		l.pageFacts = l.facts.all(l.pageFacts[:0], l.Version, page.Records)
		for i, record := range page.Records {
			if i >= ahead {
				if ahead, err = l.convertAhead(page.Records, i, taken); err != nil {
					ahead = len(page.Records) // each record is converted by itself, which tells those that cannot be
				}
			}
			// The position advances also for records that are not taken: a token must not lead back to them.
			l.after = record.Key
			known, took := l.selects(record, l.pageFacts[i])
			if took {
				if took, err = take(record, known); err != nil && !l.unreadable.add(err) {
					return rest.List{}, l.unreadable.err(l.Version, err)
				}
				took = took && err == nil
			}
			if took {
				taken++
			}
			if left := page.Remaining + len(page.Records) - i - 1; l.limit > 0 && taken >= l.limit && left > 0 {
				return l.cut(left), l.unreadable.err(l.Version, nil)
			}
		}
		full := l.limit > 0 && l.selector.all && len(l.unreadable) > 0 // the page had as many records as the list may have
		if full || page.Remaining == 0 || len(page.Records) == 0 {
			return rest.List{Version: l.at}, l.unreadable.err(l.Version, nil)
		}
	}
}

// begin reads the first page now, and each later goes on from there. It does nothing if the store has yet to reach the revision that the list
// is of: each waits for it.
func (l *lister) begin() error {
	if asked := max(l.asked, uint64(l.at)); asked > 0 {
		if current, err := l.latest(l.ctx); err != nil || current < asked {
			return err
		}
	}
	page, err := l.next(0)
	if err != nil {
		return l.failed(err)
	}
	l.first = &page
	return nil
}

// wait waits until the store is at the revision that the list is of. The error is a 504 if that takes too long.
//
// kube-apiserver reads one object from the storage, where nothing waits, if it is to be of an exact revision or there is a limit.
func (l *lister) wait() error {
	asked := max(l.asked, uint64(l.at))
	_, isOne := l.only()
	stored := isOne && l.after == "" && (l.at > 0 || l.limit > 0 && l.asked > 0 && l.options.Match == "")
	if !stored {
		return l.reach(l.ctx, asked)
	}
	current, err := l.latest(l.ctx)
	if err == nil && current < asked {
		err = tooLarge(asked, current, 0)
	}
	return err
}

// selects reports whether a record may match. It returns the fact about the record if the record certainly matches.
//
// The three outcomes are: no match, (nil, false); perhaps, (nil, true); and a match that needs no decoding, (fact, true). Without a
// selector, the fact may be nil.
func (l *lister) selects(record store.Record, known *fact) (*fact, bool) {
	switch {
	case l.selector.all:
		return known, true
	case !l.named(record.Key):
		return nil, false
	}
	if known == nil || !l.selector.inTexts {
		return nil, true
	}
	// A field of l, since a local variable would be allocated for each record.
	l.seen = inText{record, known}
	return known, l.selector.matchesText(&l.seen)
}
