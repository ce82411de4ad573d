package managedfields

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/deed-project/deed/merge"
)

// What an API server answers when a write fails.

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
//     sorts them at random.)
//   - [*BadRequestError]: 400.
//   - Everything else, objects that do not conform to their type included: 500 without a reason.
//
// The messages are those of kube-apiserver, except that an entry whose fieldsV1 cannot be read is
// named rather than printed. nil gives nil.
func ToStatus(err error) *Status {
	if err == nil {
		return nil
	}
	s := &Status{Kind: "Status", APIVersion: "v1", Status: "Failure", Message: err.Error(), Code: http.StatusInternalServerError}
	var conflicts merge.Conflicts
	var badRequest *BadRequestError
	switch {
	case errors.As(err, &conflicts):
		s.Message, s.Reason, s.Code, s.Details = conflicts.Error(), "Conflict", http.StatusConflict, &StatusDetails{}
		for _, c := range conflicts {
			s.Details.Causes = append(s.Details.Causes, StatusCause{
				Reason: "FieldManagerConflict", Message: fmt.Sprintf("conflict with %v", c.Owner.Manager), Field: merging.Field(c),
			})
		}
	case errors.As(err, &badRequest):
		s.Reason, s.Code = "BadRequest", http.StatusBadRequest
	}
	return s
}
