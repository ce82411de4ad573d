package peer

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Answer is what a request came to: Object and Entries when Err is nil. Status is what kube-apiserver would put into the
// response's body, where the error is one that has a status.
type Answer struct {
	Object  []byte // JSON, as encoding/json prints it
	Entries []byte // JSON of metadata.managedFields; null when there are none
	Err     error
	Status  []byte // JSON of the metav1.Status of Err; nil when it has none
}

// Conflict reports whether the request failed because other managers own fields that it changes.
func (a Answer) Conflict() bool { return apierrors.IsConflict(a.Err) }

// answer encodes what the field manager returned.
func answer(obj runtime.Object, err error) Answer {
	if err != nil {
		return failed(err)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return Answer{Err: err}
	}
	entries, err := json.Marshal(accessor.GetManagedFields())
	if err != nil {
		return Answer{Err: err}
	}
	var text []byte
	if u, ok := obj.(*unstructured.Unstructured); ok {
		text, err = json.Marshal(u.Object)
	} else {
		text, err = json.Marshal(obj)
	}
	return Answer{Object: text, Entries: entries, Err: err}
}

func failed(err error) Answer {
	var withStatus apierrors.APIStatus
	if !errors.As(err, &withStatus) {
		return Answer{Err: err}
	}
	status := withStatus.Status()
	sortCauses(&status)
	text, marshalErr := json.Marshal(status)
	if marshalErr != nil {
		return Answer{Err: errors.Join(err, marshalErr)}
	}
	return Answer{Err: err, Status: text}
}

// sortCauses gives the causes of a conflict with several managers the order that the message has. The reference's own
// order between managers is that of a Go map, different in every run; that of one manager's causes is kept.
func sortCauses(status *metav1.Status) {
	if status.Details == nil {
		return
	}
	place := func(c metav1.StatusCause) int {
		heading := strings.Replace(c.Message, "conflict ", "conflicts ", 1) + ":\n"
		return strings.Index(status.Message, heading)
	}
	slices.SortStableFunc(status.Details.Causes, func(a, b metav1.StatusCause) int { return place(a) - place(b) })
}
