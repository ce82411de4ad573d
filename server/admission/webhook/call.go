package webhook

import (
	"context"
	stderrors "errors"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/admission"
)

// Call is a call of a hook that is over.
type Call struct {
	Hook      string
	Mutating  bool
	Operation admission.Operation
	Took      time.Duration
	Outcome   Outcome
	// Code is 200 if the hook admits the request, the code of its refusal or of its failure, and 0 for a fault of the request.
	Code int
	// Rejected tells that the request is refused. The failure policy decides about failed calls.
	Rejected bool
}

// Outcome is how a call of a hook ended.
type Outcome uint8

const (
	Admitted  Outcome = iota
	Denied            // the hook refuses the request
	Failed            // the hook has no usable answer
	Cancelled         // the client left before there was one
	Faulty            // the request has a fault, whatever the hook says
)

// callOf returns what came of calling h for q, which took some time and ended with err.
func callOf(h *Hook, q *admission.Request, took time.Duration, err error) Call {
	c := Call{Hook: h.name, Mutating: h.mutating, Operation: q.Operation, Took: took}
	switch err := err.(type) {
	case nil:
		c.Code = http.StatusOK
	case *callError:
		c.Code, c.Rejected, c.Outcome = err.code, !h.failOpen, Failed
		if stderrors.Is(err, context.Canceled) {
			c.Outcome = Cancelled
		}
	case denial:
		c.Code, c.Rejected, c.Outcome = int(err.Status().Code), true, Denied
	default:
		c.Rejected, c.Outcome = true, Faulty
	}
	return c
}
