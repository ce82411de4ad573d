package kube

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// StatusError returns err as a client of kube-apiserver sees it: an [*apierrors.StatusError], so that apierrors.IsConflict and
// apierrors.StatusCause work. It returns nil, and an error that is or wraps such an error, unchanged. See [managedfields.ToStatus].
func StatusError(err error) error {
	if status := apierrors.APIStatus(nil); err == nil || errors.As(err, &status) {
		return err
	}
	return statusOf(err)
}

// statusOf returns the status of a field manager's error.
func statusOf(err error) *apierrors.StatusError {
	s := managedfields.ToStatus(err)
	out := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: s.Status, Message: s.Message, Reason: metav1.StatusReason(s.Reason), Code: int32(s.Code),
	}}
	if s.Details == nil {
		return out
	}
	details := &metav1.StatusDetails{Name: s.Details.Name, Group: s.Details.Group, Kind: s.Details.Kind}
	for _, c := range s.Details.Causes {
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseType(c.Reason), Message: c.Message, Field: c.Field})
	}
	out.ErrStatus.Details = details
	return out
}

// requestError returns err as apimachinery's field manager does: conflicts and bad requests get a status, other errors get none.
func requestError(err error) error {
	var conflicts merge.Conflicts
	var bad *managedfields.BadRequestError
	if errors.As(err, &conflicts) || errors.As(err, &bad) {
		return statusOf(err)
	}
	return err
}
