package rest

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Failed   = "ERROR"
)

// Event is what a watch tells of an object, or of itself.
type Event struct {
	Type   string
	Object value.Value // a Status, if the event is an error
	// Text appends the text of the object, in place of Object; nil if there is an Object.
	Text func([]byte) []byte
	// Shared keeps texts of the event for other watchers that are told of it; nil for events of one watch.
	Shared interface {
		Text(name string, make func() ([]byte, error)) ([]byte, error)
	}
}

// Printer prints events as a client wants them.
type Printer struct {
	Name  string // printers of one name print the same; "" for one that prints as no other does
	Texts bool   // events may have texts in place of objects
	Print func(text []byte, e Event) ([]byte, error)
}

// subject is what a watch is about, and how it tells of it: all that it has in common with others that ask for the same.
type subject struct {
	*Request // without what came from the client, which is not kept for as long as a watch goes on
	selector *selector
	prefix   string // of the keys
	only     string // the name of the only object that it is about, "" for all
	printer  Printer
}

// event returns what a write means to the client: the zero Event if it is about nothing that is selected.
//
//	before  after   event
//	   -      x     ADDED
//	   x      x     MODIFIED
//	   x      -     DELETED, with what was before, as of the revision of the write
//	   -      -     none
func (s *subject) event(e store.Event) (Event, error) {
	if !strings.HasPrefix(e.Key, s.prefix) || !s.names(e.Key) {
		return Event{}, nil
	}
	if known := s.asWritten(e); known != nil {
		event := Event{Type: Modified, Text: func(b []byte) []byte { return known.appendTo(b, e.Text, e.Revision, false) }}
		if e.Previous == nil {
			event.Type = Added
		}
		return event, nil
	}
	after, err := s.selected(e.Record, !e.Deleted, false)
	if err != nil {
		return Event{}, err
	}
	was := e.Record
	was.Text = e.Previous
	before, err := s.selected(was, e.Previous != nil, true)
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

// asWritten returns what is known of the text of a write if the client can be told in that text, whatever is in it; otherwise nil. So what
// this process wrote itself need not be read to be told.
func (s *subject) asWritten(e store.Event) *fact {
	if e.Deleted || !s.printer.Texts || !s.selector.all {
		return nil
	}
	return s.facts.get(s.Version, e.Revision)
}

// names reports whether the name at the end of a key is one that the watch is about.
func (s *subject) names(key string) bool { return s.only == "" || nameIn(key) == s.only }

// selected returns the object of a record; nil if the watch is not about it.
func (s *subject) selected(record store.Record, exists, replaced bool) (*shared, error) {
	if !exists {
		return nil, nil
	}
	o, err := s.sharedOf(record, replaced)
	if err != nil || !s.selector.matches(o.live.Content) {
		return nil, err
	}
	return o, nil
}

// initial returns the event of a record that is there when a watch begins: the zero Event if the watch is not about it. It has the
// stored text if texts are wanted and the version shows it as it is. What is known of the record comes with it, see lister.each.
func (s *subject) initial(record store.Record, known *fact) (_ Event, err error) {
	if !s.names(record.Key) {
		return Event{}, nil
	}
	if known == nil && s.printer.Texts && s.selector.inTexts {
		if known, err = s.known(record); err != nil {
			return Event{}, err
		}
		if known != nil && !s.selector.matchesText(&inText{record, known}) {
			return Event{}, nil
		}
	}
	if known != nil && s.printer.Texts {
		return Event{Type: Added, Text: func(b []byte) []byte { return known.appendTo(b, record.Text, record.Revision, false) }}, nil
	}
	o, err := s.read(record)
	if err != nil || !s.selector.matches(o.Content) {
		return Event{}, err
	}
	whole, err := o.document()
	return Event{Type: Added, Object: whole}, err
}

// printError is that of an event that cannot be printed.
type printError struct{ error }

// Unwrap returns why.
func (e *printError) Unwrap() error { return e.error }

// print appends an event, or nothing for the zero Event. The error is a *printError.
func (s *subject) print(text []byte, e Event) ([]byte, error) {
	if e.Type == "" {
		return text, nil
	}
	text, err := s.printer.Print(text, e)
	if err != nil {
		return text, &printError{err}
	}
	return text, nil
}

// printWrite appends what a write means to the client.
func (s *subject) printWrite(text []byte, e store.Event) ([]byte, error) {
	event, err := s.event(e)
	if err != nil {
		return text, err
	}
	return s.print(text, event)
}

// bookmark says how far a watch has come.
func bookmark(v *catalog.Version, at store.Revision) Event {
	return Event{Type: Bookmark, Object: value.Object(
		value.Member{Name: "apiVersion", Value: value.String(v.APIVersion())},
		value.Member{Name: "kind", Value: value.String(v.Kind)},
		value.Member{Name: "metadata", Value: value.Object(
			value.Member{Name: "resourceVersion", Value: value.String(strconv.FormatInt(int64(at), 10))},
		)},
	)}
}

// failed is the event with which a watch ends that came up to a revision.
func failed(err error, at store.Revision) Event {
	status := api.StatusOf(err)
	var gone *store.CompactedError
	if stderrors.As(err, &gone) {
		status = api.StatusOf(&tooOld{at, gone.Oldest})
	}
	object, convErr := structs.From(status)
	if convErr != nil {
		panic(convErr) // a Status is plain data
	}
	return Event{Type: Failed, Object: object}
}

// tooOld says that events after a revision are gone, and which is the oldest after which they are not.
type tooOld struct{ after, oldest store.Revision }

// Error returns the message.
func (e *tooOld) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.after, e.oldest)
}

// Status returns what the client is told.
func (e *tooOld) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Message: e.Error(), Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}
}
