package read

import (
	"context"
	stderrors "errors"
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
)

// At which revision a list reads, by the parameters of its query, as in kube-apiserver with a watch cache:
//
//	resourceVersion   limit   match          revision
//	none              any     none           the latest
//	0                 any     none           any; the limit is ignored
//	n                 none    none           the latest, not older than n
//	n                 some    none           exactly n; the latest, not older than n, of an object that a selector names
//	n                 any     NotOlderThan   the latest, not older than n
//	n                 any     Exact          exactly n
//	none              any     continue       that of the token; the latest if the token says -1

// lister collects the objects of a list.
//
// It belongs to one goroutine and is used for one list. after and at move as the list is read: together they say where it is.
type lister struct {
	View
	ctx        context.Context
	options    api.ListOptions
	selector   *selector
	root       string // the prefix of the collection's keys, which tokens are relative to
	prefix     string // of the keys that are read: those of a namespace if the selector names it
	after      string // the key that the last page ended with
	at         store.Revision
	first      *store.Page // the first page, if begin has read it and each has not
	limit      int64       // 0 is none
	asked      uint64      // the revision that the query names
	held       *share      // of a list that is held until it is sent; nil otherwise
	unreadable unreadables

	// pageFacts and seen are memory that is used again from page to page and from record to record.
	pageFacts []*fact // of the records of a page, in their order
	seen      inText  // is at the record that is visited
}

// newLister returns the list of the collection of a request.
func (b *Reader) newLister(q *rest.Request, options api.ListOptions) (*lister, error) {
	s, err := newSelector(q.Version, options)
	if err != nil {
		return nil, err
	}
	if err := q.CheckCollection(options.Fields); err != nil {
		return nil, err
	}
	l := &lister{
		View: b.View(q.Version), ctx: q.Context(), options: options, selector: s, root: q.Version.KeyPrefix(q.Target.Namespace),
		prefix: q.Version.KeyPrefix(s.namespace(q)), limit: options.Limit,
	}
	if options.Continue != "" {
		return l, l.resume()
	}
	if l.asked, err = api.ParseVersion(options.Version, true); err != nil {
		return l, err
	}
	_, isOne := l.only()
	exact := options.Match == metav1.ResourceVersionMatchExact || options.Match == "" && options.Limit > 0 && !isOne
	switch {
	case options.Version == "0" || options.Match == metav1.ResourceVersionMatchNotOlderThan && l.asked == 0:
		// As in kube-apiserver, whose watch cache answers such a list:
		l.limit = 0 // any revision is allowed, and the whole list is in memory
	case exact:
		l.at = store.Revision(min(l.asked, math.MaxInt64))
	}
	return l, nil
}

// resume continues where a token says that the last page ended.
//
// The position of a token replaces the resource version, so the query must not have one. Other parameters may differ from those of the
// first page.
func (l *lister) resume() error {
	token, err := parseToken(l.options.Continue)
	if err != nil {
		return errors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	if v := l.options.Version; v != "" && v != "0" {
		return errors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	l.after = before(l.root + strings.TrimPrefix(token.Start, "/"))
	if token.Version > 0 {
		l.at = store.Revision(token.Version)
	}
	return nil
}

// before returns a text between a key and all lesser keys. Keys have neither a zero byte nor one of 0xff.
func before(key string) string {
	last := len(key) - 1
	// The server's own tokens: the next page begins behind the last key and a zero byte.
	if key[last] == 0 {
		return key[:last]
	}
	return key[:last] + string([]byte{key[last] - 1, 0xff})
}

// named reports whether the name and namespace in a key match the selector.
//
// It looks at requirements of equality only, and at nothing but the key. A record that it lets pass may still not match.
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
//
// With a selector, the number of remaining objects is unknown, and the answer leaves it out. A token ends with a zero byte: the next page
// begins at the first key that is greater than the last one.
func (l *lister) cut(left int) rest.List {
	end := rest.List{Version: l.at}
	if l.selector.all {
		end.Remaining = left
	}
	end.Continue = token{Version: int64(l.at), Start: "/" + strings.TrimPrefix(l.after, l.root) + "\x00"}.String()
	return end
}

// failed translates an error of the store for the client.
//
// If a later page is too old, the refusal contains a token for going on at the latest revision. Clients that use it accept that their list
// is not of one revision.
func (l *lister) failed(err error) error {
	switch {
	case stderrors.Is(err, store.ErrCompacted) && l.options.Continue != "":
		expired := errors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
			"the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
			"were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
		expired.ErrStatus.ListMeta.Continue = token{Version: -1, Start: strings.TrimPrefix(l.after, l.root) + "\x00"}.String()
		return expired
	case stderrors.Is(err, store.ErrCompacted):
		return errors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	return err
}
