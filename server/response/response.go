// Package response writes answers: documents, and errors as a Status. A [Tracker] keeps the status code of an answer.
package response

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// Writer writes answers and logs what cannot be answered.
type Writer struct {
	Log  logs.Logger
	CBOR bool // clients may ask for CBOR
}

// ErrorMedia returns the representation in which a client wants errors.
func (o Writer) ErrorMedia(r *http.Request) wire.Representation {
	return wire.NegotiateStatus(r, wire.Offer{CBOR: o.CBOR})
}

// Error answers with the Status of err, in the representation that the client wants.
func (o Writer) Error(w http.ResponseWriter, r *http.Request, err error) {
	o.ErrorAs(w, r, o.ErrorMedia(r), err)
}

// ErrorAs answers with the Status of err. A failure of the store is logged with its cause, which the client does not get. It panics with
// http.ErrAbortHandler if err is wire.ErrAbort, so that the connection ends.
func (o Writer) ErrorAs(w http.ResponseWriter, r *http.Request, rep wire.Representation, err error) {
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
	o.Document(w, r, Code(status.Code), rep, wire.Typed{Object: status})
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

// Document answers with a document. A client that is gone is no error.
func (o Writer) Document(w http.ResponseWriter, r *http.Request, code int, rep wire.Representation, document wire.Document) {
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
