package rest

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"

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
// The cost grows with the number of objects in the collection, or in the pages that are read.
func (r *Request) List() (*Answer, error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	l, err := r.newLister(options)
	if err != nil {
		return nil, err
	}
	list, err := l.list()
	if err != nil {
		return nil, err
	}
	return &Answer{Code: http.StatusOK, List: list, Converted: true}, nil
}

// lister collects the objects of a list.
type lister struct {
	*Request
	options  api.ListOptions
	selector *selector
	prefix   string
	after    string // the key that the last page ended with
	at       store.Revision
	limit    int64 // 0 is none
	asked    int64 // the revision that the query names
}

func (r *Request) newLister(options api.ListOptions) (*lister, error) {
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	l := &lister{Request: r, options: options, selector: s, prefix: r.Version.KeyPrefix(r.Target.Namespace), limit: options.Limit}
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
	if v := l.options.Version; v != "" && v != "0" {
		return errors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	token, err := parseToken(l.options.Continue)
	if err != nil {
		return errors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	// A token begins where the next page does: behind the last key and a zero byte, which no key has.
	l.after = strings.TrimSuffix(l.prefix+strings.TrimPrefix(token.Start, "/"), "\x00")
	if token.Version > 0 {
		l.at = store.Revision(token.Version)
	}
	return nil
}

// list reads pages until the limit is reached, or nothing is left.
func (l *lister) list() (*List, error) {
	if err := l.wait(); err != nil {
		return nil, err
	}
	out := &List{Items: []value.Value{}}
	for {
		page, err := l.Store.Range(l.context(), store.Range{Prefix: l.prefix, After: l.after, Limit: l.pageSize(out), At: l.at})
		if err != nil {
			return nil, l.failed(err)
		}
		if l.at == 0 {
			l.at = page.Revision
		}
		out.Version = l.at
		if err := l.collect(out, page); err != nil {
			return nil, err
		}
		if page.Remaining == 0 {
			return out, nil
		}
		if l.limit > 0 && int64(len(out.Items)) >= l.limit {
			if l.selector.all() {
				out.Remaining = page.Remaining
			}
			out.Continue = token{Version: int64(l.at), Start: "/" + strings.TrimPrefix(l.after, l.prefix) + "\x00"}.String()
			return out, nil
		}
	}
}

// pageSize returns how many records to read: as many as are missing, unless a selector lets most of them pass by.
func (l *lister) pageSize(out *List) int {
	if l.limit == 0 {
		return 0
	}
	missing := l.limit - int64(len(out.Items))
	if !l.selector.all() {
		missing = 1 // so that the page ends behind the last object that is taken
	}
	return int(missing)
}

// collect adds the objects of a page that the selector is about.
func (l *lister) collect(out *List, page store.Page) error {
	for _, record := range page.Records {
		l.after = record.Key
		o, err := l.read(record)
		if err != nil {
			return err
		}
		if l.selector.matches(o.Content) {
			out.Items = append(out.Items, o.whole)
			out.Size += len(record.Text)
		}
	}
	return nil
}

// wait refuses a revision that the store has not reached.
func (l *lister) wait() error {
	if l.asked == 0 || l.at != 0 {
		return nil
	}
	page, err := l.Store.Range(l.context(), store.Range{Prefix: l.prefix, Limit: 1})
	if err == nil && page.Revision < store.Revision(l.asked) {
		err = tooLarge(l.asked, int64(page.Revision))
	}
	return err
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
	case stderrors.Is(err, store.ErrFuture):
		return tooLarge(int64(l.at), 0)
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
