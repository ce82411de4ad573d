package managedfields

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/merge"
)

// What an API server answers when a write fails.

// The HTTP statuses of refusals. Package net/http, which names them too, is large and has no other use here.
const (
	codeBadRequest = 400
	codeConflict   = 409
	codeInternal   = 500
)

// Status is the answer of an API server to a request that failed: metav1.Status in Kubernetes.
type Status struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   struct{}       `json:"metadata"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Reason     string         `json:"reason,omitempty"`
	Details    *StatusDetails `json:"details,omitempty"`
	Code       int            `json:"code"`
}

// StatusDetails says which object a failure is about, where that is told, and its single causes.
type StatusDetails struct {
	Name   string        `json:"name,omitempty"`
	Group  string        `json:"group,omitempty"`
	Kind   string        `json:"kind,omitempty"` // the resource, if the failure is a conflict about one object
	Causes []StatusCause `json:"causes,omitempty"`
}

// StatusCause is one cause of a failure.
type StatusCause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// Error returns the message.
func (s *Status) Error() string {
	if s == nil {
		return "<nil>"
	}
	return s.Message
}

// ToStatus returns what kube-apiserver answers to a request that a [FieldManager] fails with err:
//
//   - [merge.Conflicts]: 409 with one cause for each conflict, sorted by manager. (The reference
//     sorts them at random.) Behind a megabyte of causes the last one says how many are left out.
//   - [*BadRequestError]: 400.
//   - Everything else, objects that do not conform to their type included: 500 without a reason.
//
// The messages are those of kube-apiserver, except that an entry whose fieldsV1 cannot be read is
// named rather than printed. nil gives nil.
func ToStatus(err error) *Status {
	if err == nil {
		return nil
	}
	s := &Status{Kind: "Status", APIVersion: "v1", Status: "Failure", Code: codeInternal}
	var conflicts merge.Conflicts
	var many *merge.ManyConflicts
	var badRequest *BadRequestError
	switch {
	case errors.As(err, &conflicts):
		s.Reason, s.Code, s.Details = "Conflict", codeConflict, &StatusDetails{}
		if errors.As(err, &many) {
			s.Message, s.Details.Causes = many.Error(), causesOf(conflicts, many.More)
		} else {
			s.Message, s.Details.Causes = conflicts.Error(), causesOf(conflicts, 0)
		}
	case errors.As(err, &badRequest):
		s.Message, s.Reason, s.Code = err.Error(), "BadRequest", codeBadRequest
	default:
		s.Message = err.Error()
	}
	return s
}

// maxCauses is how much text the causes of a Status have.
const maxCauses = 1 << 20

// causesOf returns a cause for each conflict. more is how many there are beside them.
func causesOf(conflicts merge.Conflicts, more int) []StatusCause {
	var out []StatusCause
	length := 0
	for i, c := range conflicts {
		if length > maxCauses {
			more += len(conflicts) - i
			break
		}
		cause := StatusCause{
			Reason: "FieldManagerConflict", Message: fmt.Sprintf("conflict with %v", c.Owner.Manager), Field: merging.Field(c),
		}
		length += len(cause.Message) + len(cause.Field)
		out = append(out, cause)
	}
	if more > 0 {
		out = append(out, StatusCause{Message: fmt.Sprintf("and %d more", more)})
	}
	return out
}
