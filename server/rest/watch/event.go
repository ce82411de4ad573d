package watch

import (
	stderrors "errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// From writes to the texts of events. A store.Event is a write of the store, and a read.Event is what the write means for the objects of a
// watch. A Printer makes text of the latter, in the representation of the client.

// Printer encodes events for a client.
//
// Name is a promise: watches of the same objects and printers of the same name send the same bytes, so they may share them.
type Printer struct {
	Name  string // printers with the same name encode alike; "" for a printer that shares nothing
	Texts bool   // events may have texts in place of objects
	// Print appends the text of an event. It must not keep the text.
	Print func(text []byte, e read.Event) ([]byte, error)
}

// subject is what watches with the same parameters share: the objects, and the encoding of their events.
type subject struct {
	*read.Collection
	printer Printer
}

// printError is the error of an event that cannot be encoded.
//
// It ends the watch without an event for the client, and the server logs it.
type printError struct{ error }

// Unwrap returns the cause.
func (e *printError) Unwrap() error { return e.error }

// print appends the text of an event; nothing for the zero Event. The error is a *printError.
func (s *subject) print(text []byte, e read.Event) ([]byte, error) {
	if e.Type == "" {
		return text, nil
	}
	text, err := s.printer.Print(text, e)
	if err != nil {
		return text, &printError{err}
	}
	return text, nil
}

// printWrite appends the text of the event of a write.
func (s *subject) printWrite(text []byte, e store.Event) ([]byte, error) {
	event, err := s.Event(e)
	if err != nil {
		return text, err
	}
	return s.print(text, event)
}

// bookmark returns a bookmark at a revision.
//
// Its object has the kind of the resource and nothing but a revision. That of a built-in kind is an empty Go struct in kube-apiserver,
// which shows members that have no value, such as the maxReplicas of a HorizontalPodAutoscaler.
func bookmark(v *catalog.Version, at store.Revision) read.Event {
	object := value.Object(value.Member{Name: "metadata", Value: value.Object()})
	if v.Empty != nil {
		object = v.Empty()
	}
	object = object.With("apiVersion", value.String(v.APIVersion())).With("kind", value.String(v.Kind))
	return read.Event{Type: read.Bookmark, Object: read.WithVersion(object, at)}
}

// failed returns the last event of a watch that fails. at is the revision up to which the client has all events.
//
// A client that watches from a compacted revision gets a 410, and lists again. The error of the store names the oldest revision, which the
// message shows.
func failed(err error, at store.Revision) read.Event {
	status := api.StatusOf(err)
	var gone *store.CompactedError
	if stderrors.As(err, &gone) {
		status = api.StatusOf(&tooOld{at, gone.Oldest})
	}
	object, convErr := structs.From(status)
	if convErr != nil {
		panic(convErr) // cannot happen: a Status is plain data
	}
	return read.Event{Type: read.Failed, Object: object}
}

// tooOld is the error of a watch from a revision whose events are compacted. oldest is the first revision that is not.
//
// The number in parentheses is the oldest revision from which a watch could begin, as in kube-apiserver's message.
type tooOld struct{ after, oldest store.Revision }

// Error returns the message.
func (e *tooOld) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.after, e.oldest)
}

// Status returns the Status that the client gets.
func (e *tooOld) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Message: e.Error(), Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}
}
