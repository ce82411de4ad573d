package peer

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Answer is the outcome of a request: Object and Entries if Err is nil, and Status if the field manager failed with Err.
type Answer struct {
	Object  []byte // JSON, as encoding/json prints it: unstructured objects with all names sorted, also inside fieldsV1
	Entries []byte // JSON of metadata.managedFields with every fieldsV1 as the field manager made it; null without entries
	Err     error
	Status  []byte // JSON of the metav1.Status that kube-apiserver answers Err with; nil when it is not the field manager's
}

// Conflict reports whether the request failed because other managers own fields that it changes.
func (a Answer) Conflict() bool {
	var status metav1.Status
	return json.Unmarshal(a.Status, &status) == nil && status.Reason == metav1.StatusReasonConflict
}

// AnswerOf encodes what a field manager returned.
func AnswerOf(obj runtime.Object, err error) Answer {
	if err != nil {
		return failed(err)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return Answer{Err: err}
	}
	entries, err := json.Marshal(restoreFields(accessor.GetManagedFields()))
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

// restoreFields restores the order in fieldsV1, which unstructured objects lose because they hold it as maps. It does not change an invalid
// fieldsV1.
func restoreFields(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	out := slices.Clone(entries)
	for i := range out {
		var set fieldpath.Set
		if out[i].FieldsV1 == nil || set.FromJSON(out[i].FieldsV1.GetRawReader()) != nil {
			continue
		}
		if raw, err := set.ToJSON(); err == nil {
			out[i].FieldsV1 = metav1.NewFieldsV1(string(raw))
		}
	}
	return out
}

// failed encodes the status of err. Like a request handler it sets the kind of a status. An error without a status gets code 500 and no
// reason.
func failed(err error) Answer {
	status := metav1.Status{Status: metav1.StatusFailure, Message: err.Error(), Code: http.StatusInternalServerError}
	var withStatus apierrors.APIStatus
	if errors.As(err, &withStatus) {
		status = withStatus.Status()
		sortCauses(&status)
	}
	status.Kind, status.APIVersion = "Status", "v1"
	text, marshalErr := json.Marshal(status)
	if marshalErr != nil {
		return Answer{Err: errors.Join(err, marshalErr)}
	}
	return Answer{Err: err, Status: text}
}

// sortCauses sorts the causes of a conflict with several managers in the order of its message. The reference's order of managers is random.
// The order of one manager's causes is kept.
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
