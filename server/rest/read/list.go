package read

import (
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// List answers with the objects of a collection, in the order of their keys.
//
//	options   of the query
//	at        the revision that is asked for
//	range     of the store, page by page until there are enough objects
//	select    those that the selectors are about
//
// The cost grows with the number of objects in the collection, or in the pages that are read. All of them are held until the answer is sent.
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
	return &rest.Answer{Code: http.StatusOK, List: list, Converted: true, Sent: held.leave}, nil
}

// Objects returns the objects in the collection of a request that options select, as they are at the moment.
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

// objects returns what each calls with records: it hands the selected objects to take.
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

// each calls take with the records of the list, which reports whether it took one, until the limit is reached or nothing is left. With
// a record comes what is known of its text if that told that it is selected; nil if take has to find out. It returns what there is to
// say of the list beside its items.
//
// The cost grows with the records that are visited. All are of one revision.
func (l *lister) each(take func(record store.Record, known *fact) (bool, error)) (rest.List, error) {
	if err := l.reach(l.ctx, max(l.asked, int64(l.at))); err != nil {
		return rest.List{}, err
	}
	taken := int64(0)
	for {
		page, err := l.next(taken)
		if err != nil {
			return rest.List{}, l.failed(err)
		}
		if l.at == 0 {
			l.at = page.Revision
		}
		ahead := 0 // how many records are at hand
		l.pageFacts = l.facts.all(l.pageFacts[:0], l.Version, page.Records)
		for i, record := range page.Records {
			if i >= ahead {
				if ahead, err = l.convertAhead(page.Records, i, taken); err != nil {
					return rest.List{}, err
				}
			}
			l.after = record.Key
			known, took := l.selects(record, l.pageFacts[i])
			if took {
				if took, err = take(record, known); err != nil {
					return rest.List{}, err
				}
			}
			if took {
				taken++
			}
			if left := page.Remaining + len(page.Records) - i - 1; l.limit > 0 && taken >= l.limit && left > 0 {
				return l.cut(left), nil
			}
		}
		if page.Remaining == 0 || len(page.Records) == 0 {
			return rest.List{Version: l.at}, nil
		}
	}
}

// selects reports whether the list may be about a record. It returns what is known of it if it is so for sure.
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
	l.seen = inText{record, known}
	return known, l.selector.matchesText(&l.seen)
}
