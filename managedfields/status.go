package managedfields

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/merge"
)

// The answers of an API server to writes that fail.

// The HTTP status codes of refusals. Package net/http also names them, but it is large and has no
// other use here.
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

// StatusDetails names the object of a failure, if the server names it, and lists the causes of the
// failure.
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

// ToStatus returns the answer of kube-apiserver to a request that a [FieldManager] fails with err:
//
//   - [merge.Conflicts]: 409 with one cause for each conflict, sorted by manager. (The reference
//     sorts them at random.) After a megabyte of causes, the last cause counts the conflicts that
//     are left out.
//   - [*BadRequestError]: 400.
//   - Every other error: 500 without a reason. This includes objects that do not conform to their
//     type.
//
// The messages are those of kube-apiserver, with one exception. An entry with invalid fieldsV1 is
// named, not printed. ToStatus returns nil for nil.
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

// maxCauses is the size in bytes at which causesOf stops adding causes.
const maxCauses = 1 << 20

// causesOf returns one cause for each conflict. more is the number of further conflicts.
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
