package api

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
)

// StatusOf returns the Status that err carries. Any other error gives a Status of code 500 without a reason. The Status is within the
// bounds of a refusal.
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

// Refused returns a field manager's error with its Status: a conflict, a bad request, or an object that does not fit its type.
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

// ModifiedText is the reason for refusing an update of an object that changed after the client read it.
const ModifiedText = "the object has been modified; please apply your changes to the latest version and try again"

// Modified refuses such an update with 409.
func Modified(resource schema.GroupResource, name string) error {
	return errors.NewConflict(resource, name, stderrors.New(ModifiedText))
}

// NoResource is the 404 of kube-apiserver's router of built-in kinds for an unknown path.
func NoResource() error {
	return errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

// NoMethod is the 405 of that router for a method that the path does not have.
func NoMethod() error {
	return errors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

// TooLarge refuses a body of more than limit bytes with 413.
func TooLarge(limit int64) error {
	return errors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}

// UnregisteredKind returns the error of kube-apiserver about a kind that it does not know. An apiVersion with more than one slash is no
// version of a group.
func UnregisteredKind(kind, apiVersion string) error {
	if strings.Count(apiVersion, "/") > 1 {
		return stderrors.New("unexpected GroupVersion string: " + apiVersion)
	}
	version := strings.TrimPrefix(apiVersion, "/") // of the core group
	return fmt.Errorf(`no kind %q is registered for version %q in scheme "pkg/runtime/scheme.go:111"`, kind, version)
}

// InternalGroup returns the group that kube-apiserver has the internal kinds of a group in. The events of events.k8s.io are those of the
// core group.
func InternalGroup(group string) string {
	if group == "events.k8s.io" {
		return ""
	}
	return group
}

// InternalType returns the name of the internal Go type that kube-apiserver has for a kind, such as apps.Deployment. Clients see it in
// errors.
func InternalType(group, kind string) string {
	name, _, _ := strings.Cut(InternalGroup(group), ".")
	if name == "" {
		name = "core"
	}
	return name + "." + kind
}
