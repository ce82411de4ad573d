package read

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
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
// The cost grows with the number of objects in the collection, or in the pages that are read. All of them are held until [Request.Leave].
func (r *View) List() (*Answer, error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	l, err := r.newLister(options)
	if err != nil {
		return nil, err
	}
	l.whole = true
	list, err := l.list()
	if err != nil {
		return nil, err
	}
	return &Answer{Code: http.StatusOK, List: list, Converted: true}, nil
}

// Objects returns the objects that options select, as they are at the moment.
func (r *View) Objects(options api.ListOptions) (*List, error) {
	l, err := r.newLister(options)
	if err != nil {
		return nil, err
	}
	return l.list()
}

// lister collects the objects of a list.
type lister struct {
	*View
	options  api.ListOptions
	selector *selector
	prefix   string
	after    string // the key that the last page ended with
	at       store.Revision
	limit    int64 // 0 is none
	asked    int64 // the revision that the query names
	whole    bool  // what is listed is held until it is sent

	known []*fact // what is known of the records of a page, in their order
	seen  inText  // is at the record that is visited
}

func (r *View) newLister(options api.ListOptions) (*lister, error) {
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	l := &lister{View: r, options: options, selector: s, prefix: r.Version.KeyPrefix(r.Target.Namespace), limit: options.Limit}
	if options.Continue != "" {
		return l, l.resume()
	}
	if l.asked, err = api.ParseVersion(options.Version, true); err != nil {
		return l, err
	}
	exact := options.Match == metav1.ResourceVersionMatchExact || options.Match == "" && options.Limit > 0
	switch {
	case options.Version == "0" || options.Match == metav1.ResourceVersionMatchNotOlderThan && l.asked == 0:
		l.limit = 0 // any state will do: the whole list is at hand
	case exact:
		l.at = store.Revision(l.asked)
	}
	return l, nil
}

// resume continues where a token says that the last page ended.
func (l *lister) resume() error {
	token, err := parseToken(l.options.Continue)
	if err != nil {
		return errors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	if v := l.options.Version; v != "" && v != "0" {
		return errors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	// A token begins where the next page does: behind the last key and a zero byte, which no key has.
	l.after = strings.TrimSuffix(l.prefix+strings.TrimPrefix(token.Start, "/"), "\x00")
	if token.Version > 0 {
		l.at = store.Revision(token.Version)
	}
	return nil
}

// list reads the objects.
func (l *lister) list() (*List, error) {
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
		if err == nil && l.whole {
			err = l.hold(len(record.Text))
		}
		if err != nil {
			return false, err
		}
		return true, take(object)
	}
}

// pageSize is how many records are read at once: a list holds no more of the store than that.
const pageSize = 1000

// each calls take with the records of the list, which reports whether it took one, until the limit is reached or nothing is left. With
// a record comes what is known of its text if that told that it is selected; nil if take has to find out. It returns what there is to
// say of the list beside its items.
//
// The cost grows with the records that are visited. All are of one revision.
func (l *lister) each(take func(record store.Record, known *fact) (bool, error)) (List, error) {
	if err := l.wait(); err != nil {
		return List{}, err
	}
	taken := int64(0)
	for {
		page, err := l.next(taken)
		if err != nil {
			return List{}, l.failed(err)
		}
		if l.at == 0 {
			l.at = page.Revision
		}
		ahead := 0 // how many records are at hand
		l.known = l.facts.all(l.known[:0], l.Version, page.Records)
		for i, record := range page.Records {
			if i >= ahead {
				if ahead, err = l.convertAhead(page.Records, i, taken); err != nil {
					return List{}, err
				}
			}
			l.after = record.Key
			known, took := l.selects(record, l.known[i])
			if took {
				if took, err = take(record, known); err != nil {
					return List{}, err
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
			return List{Version: l.at}, nil
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

// named reports whether the name and namespace in a key are what the selector is about.
func (l *lister) named(key string) bool {
	if l.selector.fields.Empty() {
		return true
	}
	namespace, name, namespaced := strings.Cut(strings.TrimPrefix(key, l.Version.Prefix), "/")
	if !namespaced {
		namespace, name = "", namespace
	}
	wanted, ok := l.selector.fields.RequiresExactMatch("metadata.name")
	in, inOne := l.selector.fields.RequiresExactMatch("metadata.namespace")
	return (!ok || wanted == name) && (!inOne || in == namespace)
}

// cut is the end of a page behind which records are left.
func (l *lister) cut(left int) List {
	end := List{Version: l.at}
	if l.selector.all {
		end.Remaining = left
	}
	end.Continue = token{Version: int64(l.at), Start: "/" + strings.TrimPrefix(l.after, l.prefix) + "\x00"}.String()
	return end
}

// wait waits for a revision that the store has not reached, and refuses it if that takes too long.
func (l *lister) wait() error { return l.Reach(max(l.asked, int64(l.at))) }

// patience is how long a request waits for a revision that is still to come.
const patience = 3 * time.Second

// reach waits until the store is at a revision. The error is a 504 if that takes too long.
func (r *View) Reach(asked int64) error {
	if asked == 0 {
		return nil
	}
	current, err := r.Latest()
	if err != nil || current >= asked {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	batches, err := r.Store.Watch(ctx, "", store.Revision(current))
	if err != nil {
		return err
	}
	for b, err := range batches {
		if err != nil {
			return err
		}
		if current = int64(b.Revision); current >= asked {
			return nil
		}
	}
	if err := r.Context().Err(); err != nil {
		return err
	}
	// A watch of a store need not be told of what others write beside it.
	if current, err = r.Latest(); err != nil || current >= asked {
		return err
	}
	return tooLarge(asked, current)
}

// latest returns the revision of the store.
func (r *View) Latest() (int64, error) {
	at, err := store.Latest(r.Context(), r.Store)
	return int64(at), err
}

// failed returns what the store's error means to the client.
func (l *lister) failed(err error) error {
	switch {
	case stderrors.Is(err, store.ErrCompacted) && l.options.Continue != "":
		expired := errors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
			"the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
			"were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
		expired.ErrStatus.ListMeta.Continue = token{Version: -1, Start: strings.TrimPrefix(l.after, l.prefix) + "\x00"}.String()
		return expired
	case stderrors.Is(err, store.ErrCompacted):
		return errors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	return err
}

// tooLarge is the 504 of a revision that the store does not reach in time.
func tooLarge(asked, current int64) error {
	err := errors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
