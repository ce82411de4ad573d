package api

import (
	stderrors "errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
)

// StatusOf returns what a client is told of err: the Status that it carries, and for every other error a Status of code 500
// without a reason. It is within the bounds of a refusal.
func StatusOf(err error) *metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var carried errors.APIStatus
	if stderrors.As(err, &carried) {
		s = carried.Status()
	}
	if s.Code == 0 {
		s.Code = http.StatusInternalServerError
	}
	s = bounded(s)
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &s
}

// Refused is the error with the Status that a field manager's error stands for: a conflict, a bad request, or an object that
// does not conform to its type.
func Refused(err error) error {
	if err == nil {
		return nil
	}
	s := managedfields.ToStatus(err)
	out := metav1.Status{
		Status: s.Status, Message: s.Message, Reason: metav1.StatusReason(s.Reason), Code: int32(s.Code),
	}
	if s.Details != nil {
		out.Details = &metav1.StatusDetails{}
		for _, c := range s.Details.Causes {
			out.Details.Causes = append(out.Details.Causes, metav1.StatusCause{
				Type: metav1.CauseType(c.Reason), Message: c.Message, Field: c.Field,
			})
		}
	}
	return &errors.StatusError{ErrStatus: out}
}

// ModifiedText says why an update of an object that changed since it was read is refused.
const ModifiedText = "the object has been modified; please apply your changes to the latest version and try again"

// Modified refuses the update of an object that changed since it was read: 409.
func Modified(resource schema.GroupResource, name string) error {
	return errors.NewConflict(resource, name, stderrors.New(ModifiedText))
}

// NoResource is the answer of the router of built-in kinds to a path that names nothing: 404.
func NoResource() error {
	return errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

// NoMethod is the answer of the router of built-in kinds to a method that a path does not have: 405.
func NoMethod() error {
	return errors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

// TooLarge refuses a body of more than limit bytes: 413.
func TooLarge(limit int64) error {
	return errors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}
