// Package response writes answers: documents, and errors as a Status. A [Tracker] keeps the status code of an answer.
package response

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// Writer writes answers and logs what cannot be answered.
type Writer struct {
	Log  logs.Logger
	CBOR bool // clients may ask for CBOR
}

// Error answers with the Status of err, in the representation that the client wants, or as JSON if the server has none that the client takes.
// A failure of the store is logged with its cause, which the client does not get. It panics with http.ErrAbortHandler if err is wire.ErrAbort,
// so that the connection ends.
func (o Writer) Error(w http.ResponseWriter, r *http.Request, err error) {
	rep, refused := wire.NegotiateStatus(r, wire.Offer{CBOR: o.CBOR})
	if refused != nil {
		o.refuse(w, r, rep, err, o.Unrecorded)
		return
	}
	o.ErrorAs(w, r, rep, err)
}

// ErrorAs is Error in the representation rep.
func (o Writer) ErrorAs(w http.ResponseWriter, r *http.Request, rep wire.Representation, err error) {
	o.refuse(w, r, rep, err, o.Document)
}

// refuse answers with the Status of err by a function that writes documents.
func (o Writer) refuse(w http.ResponseWriter, r *http.Request, rep wire.Representation, err error,
	write func(http.ResponseWriter, *http.Request, int, wire.Representation, wire.Document)) {
	if errors.Is(err, wire.ErrAbort) {
		panic(http.ErrAbortHandler)
	}
	if failure := (*store.Failure)(nil); errors.As(err, &failure) {
		o.Log.Error("the store failed", logs.Name("method", r.Method), logs.Path(r.URL.Path), logs.Fault(failure))
	}
	status := api.StatusOf(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	write(w, r, Code(status.Code), rep, wire.Typed{Object: status})
}

// Forbid answers as Error does with what the user may not do. A browser must not guess what the answer is.
func (o Writer) Forbid(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	o.Error(w, r, err)
}

// Code returns the code of a Status as the status code of an answer. A webhook may refuse a request with a code outside of HTTP's range, for
// which net/http panics: the answer has 500 then, and the Status keeps its code.
func Code(code int32) int {
	if code < 100 || code > 999 {
		return http.StatusInternalServerError
	}
	return int(code)
}

// Document answers with a document, which the audit log has if its policy says so. A client that is gone is no error.
func (o Writer) Document(w http.ResponseWriter, r *http.Request, code int, rep wire.Representation, document wire.Document) {
	if c := request.From(r.Context()); c != nil && c.Record != nil {
		c.Record.Answer(statusOf(document), document.AppendJSON)
	}
	o.Unrecorded(w, r, code, rep, document)
}

// Unrecorded is Document for a document that is no object. The audit log does not have it.
func (o Writer) Unrecorded(w http.ResponseWriter, r *http.Request, code int, rep wire.Representation, document wire.Document) {
	err := wire.Write(w, r, code, rep, document)
	var notEncoded *wire.EncodeError
	switch {
	case errors.As(err, &notEncoded):
		o.Log.Error("an answer cannot be encoded", logs.Path(r.URL.Path), logs.Fault(err))
		o.ErrorAs(w, r, wire.Plain, err)
	case err != nil:
		o.Log.Debug("an answer was not written", logs.Path(r.URL.Path), logs.Fault(err))
	}
}

// statusOf returns a document as the Status that it is, or nil.
func statusOf(document wire.Document) *metav1.Status {
	switch d := document.(type) {
	case wire.Typed:
		status, _ := d.Object.(*metav1.Status)
		return status
	case wire.Managed:
		if d.Content.Get("kind").Str() != "Status" || d.Content.Get("apiVersion").Str() != "v1" {
			return nil
		}
		status := &metav1.Status{}
		if err := json.Unmarshal(d.AppendJSON(nil), status); err == nil {
			return status
		}
	}
	return nil
}

// NotFound answers a path that leads nowhere with text.
func NotFound(w http.ResponseWriter) { http.Error(w, "404 page not found", http.StatusNotFound) }

// Overloaded answers with 429 a request that exceeds a limit of requests in flight. after is when the client should ask again, in seconds.
func Overloaded(w http.ResponseWriter, after int64) {
	w.Header().Set("Retry-After", strconv.FormatInt(after, 10))
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}

// TimedOut answers with 504 a request whose deadline has passed, in the words of the filter of kube-apiserver that watches over deadlines.
func TimedOut(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusGatewayTimeout)
	fmt.Fprint(w, `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",`+
		`"reason":"Timeout","details":{},"code":504}`+"\n")
}
