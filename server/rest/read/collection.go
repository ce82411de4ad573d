package read

import (
	"strings"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// The objects of a watch. A watch needs the objects that exist when it begins, and then the event of each write of the store. Both avoid
// decoding where they can:
//
//	fact about the text, and texts are taken    the event is the stored text, with the resource version spliced in
//	fact, and the selector reads texts          as above for initial objects, if the selector matches the text
//	else                                        the object is decoded once for all watches of the version; see shared.go

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Failed   = "ERROR"
)

// Event is an event of a watch: about an object, a bookmark, or an error.
//
// Watches may share it, so it must not be modified.
type Event struct {
	Type   string
	Object value.Value // a Status, if the event is an error
	// Text appends the text of the object; it replaces Object. It is nil if Object is set.
	Text func([]byte) []byte
	// Shared holds texts of the event that several watches need; nil for an event of one watch.
	Shared interface {
		Text(name string, make func() ([]byte, error)) ([]byte, error)
	}
}

// Collection is the set of objects that a watch is about: those of a version below a key prefix that match its selectors.
//
// It is immutable once it is made, and safe for concurrent use.
type Collection struct {
	Version *catalog.Version
	Prefix  string // of the keys: those of a namespace if the selector names it
	Only    string // the name of the only object; "" for no restriction
	// Options has the selectors.
	Options api.ListOptions
	// Texts tells that events may have texts in place of objects.
	Texts bool

	view     View
	selector *selector
}

// Collection returns the objects that a watch with options is about. It keeps nothing else of the request. The error is a 400 for a field that
// cannot be selected by.
func (b *Reader) Collection(q *rest.Request, options api.ListOptions) (*Collection, error) {
	s, err := newSelector(q.Version, options)
	if err != nil {
		return nil, err
	}
	if err := q.CheckCollection(options.Fields); err != nil {
		return nil, err
	}
	return &Collection{
		Version: q.Version, Prefix: q.Version.KeyPrefix(s.namespace(q)), Only: q.Target.Name, Options: options,
		view: b.View(q.Version), selector: s,
	}, nil
}

// Initial reads the objects of a collection that exist when a watch begins.
type Initial struct {
	of     *Collection
	lister *lister
}

// Initial returns the reader of the objects of c for a request. They are those of the latest revision, so that the watch misses no later
// write. If that is older than notOlder, Each waits for notOlder; 0 is no bound. The error is that of the store.
func (c *Collection) Initial(q *rest.Request, notOlder uint64) (*Initial, error) {
	l := &lister{
		View: c.view, ctx: q.Context(), options: c.Options, selector: c.selector, prefix: c.Prefix, asked: notOlder,
	}
	return &Initial{c, l}, l.begin()
}

// Each calls take with the event of each object, by key, and returns the revision of all of them. It holds one page of records. The first object
// that cannot be read ends it.
func (i *Initial) Each(take func(Event, store.Revision) error) (store.Revision, error) {
	end, err := i.lister.each(func(record store.Record, known *fact) (bool, error) {
		event, err := i.of.initial(record, known)
		if err != nil || event.Type == "" {
			return false, ending(err)
		}
		return true, take(event, record.Revision)
	})
	return end.Version, err
}

// Event returns the event of a write, or the zero Event if the write changes no selected object.
//
//	selected before  selected after   event
//	        -              x          ADDED
//	        x              x          MODIFIED
//	        x              -          DELETED, with the old object at the revision of the write
//	        -              -          none
//
// Other writers' objects and replaced objects count too: whether the write moves an object into the selection or out of it depends on both
// texts. If all objects are selected, the text before the write need not be read.
func (c *Collection) Event(e store.Event) (Event, error) {
	if !strings.HasPrefix(e.Key, c.Prefix) || !c.names(e.Key) {
		return Event{}, nil
	}
	if known := c.asWritten(e); known != nil {
		event := Event{Type: Modified, Text: func(b []byte) []byte { return known.appendTo(b, e.Text, e.Revision, false) }}
		if e.Previous == nil {
			event.Type = Added
		}
		return event, nil
	}
	// The state before the write is a record with the former text, at the revision of the write, as kube-apiserver shows a deleted object.
	after, err := c.selected(e.Record, !e.Deleted, false)
	if err != nil {
		return Event{}, err
	}
	was := e.Record
	was.Text = e.Previous
	before, err := c.selected(was, e.Previous != nil, true)
	switch {
	case err != nil || before == nil && after == nil:
		return Event{}, err
	case before == nil:
		return Event{Type: Added, Object: after.whole, Shared: after}, nil
	case after == nil:
		return Event{Type: Deleted, Object: before.whole, Shared: before}, nil
	}
	return Event{Type: Modified, Object: after.whole, Shared: after}, nil
}

// asWritten returns the fact about the text of a write if the event can use that text, whatever it contains; otherwise nil. So watches do
// not decode objects that this process wrote.
//
// Only a selector that selects everything allows this: otherwise the former state of the object decides on the type of the event.
func (c *Collection) asWritten(e store.Event) *fact {
	if e.Deleted || !c.Texts || !c.selector.all {
		return nil
	}
	return c.view.facts.get(c.Version, e.Revision)
}

// names reports whether the collection may have an object with the name in a key.
func (c *Collection) names(key string) bool { return c.Only == "" || NameIn(key) == c.Only }

// selected returns the object of a record, or nil if the selectors do not match it.
//
// replaced tells that the record has the text before a write. The two objects of an event differ by that alone: they have the same
// revision.
func (c *Collection) selected(record store.Record, exists, replaced bool) (*shared, error) {
	if !exists {
		return nil, nil
	}
	o, err := c.view.sharedOf(record, replaced)
	if err != nil || !c.selector.matches(o.live.Content) {
		return nil, err
	}
	return o, nil
}

// initial returns the event of an object that exists when a watch begins, or the zero Event if it is not selected. The event has the stored
// text if the watch takes texts and the version serves the text unchanged. known is the fact about the record; see lister.each.
func (c *Collection) initial(record store.Record, known *fact) (_ Event, err error) {
	if !c.names(record.Key) {
		return Event{}, nil
	}
	// The lister had no fact. Reading the record may find one, which all watches that begin later use, too.
	if known == nil && c.Texts && c.selector.inTexts {
		if known, err = c.view.known(record); err != nil {
			return Event{}, err
		}
		if known != nil && !c.selector.matchesText(&inText{record, known}) {
			return Event{}, nil
		}
	}
	if known != nil && c.Texts {
		return Event{Type: Added, Text: func(b []byte) []byte { return known.appendTo(b, record.Text, record.Revision, false) }}, nil
	}
	o, err := c.view.read(record)
	if err != nil || !c.selector.matches(o.Content) {
		return Event{}, err
	}
	whole, err := o.document()
	return Event{Type: Added, Object: whole}, err
}
