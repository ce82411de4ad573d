package read

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Stored objects that cannot be read: their text is damaged, or a webhook cannot convert them. What a request answers depends on how
// kube-apiserver reaches the object:
//
//	reading one    the error of its key, without the prefix of the storage
//	a dry run      the same
//	writing one    the error of the decoder alone
//	listing        one error with a cause for each object that cannot be read, by its whole key

// unreadable is the error of a stored object that cannot be read, in the words for reads.
type unreadable struct {
	*errors.StatusError
	key string
	why error
}

// WhyUnreadable returns the cause if err is the error of a stored object that cannot be read, and err otherwise.
func WhyUnreadable(err error) error {
	var u *unreadable
	if stderrors.As(err, &u) {
		return u.why
	}
	return err
}

// Corrupt returns the error of a record that cannot be read.
func Corrupt(record store.Record, err error) error {
	why := Undecodable(record.Revision, err)
	return &unreadable{errors.NewInternalError(storageError(strings.TrimPrefix(record.Key, "/registry"), why)), record.Key, why}
}

// Undecodable returns the error of an object of a revision that cannot be decoded. It is no Status, whatever err is.
func Undecodable(revision store.Revision, err error) error {
	return fmt.Errorf("object not decodable revision=%d: %v", revision, err)
}

// storageError is the error that the store of kube-apiserver has for an object that cannot be read.
func storageError(key string, why error) error {
	return fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", key, why)
}

// maxUnreadable is how many unreadable objects end a list.
const maxUnreadable = 100

// unreadables are the objects of a list that cannot be read.
type unreadables []*unreadable

// add notes err if it is about an unreadable object. It reports whether the list goes on, as it does to find all of them.
func (u *unreadables) add(err error) bool {
	var one *unreadable
	if !stderrors.As(err, &one) {
		return false
	}
	*u = append(*u, one)
	return len(*u) < maxUnreadable
}

// ending returns err as one that ends a list at once.
func ending(err error) error {
	var one *unreadable
	if stderrors.As(err, &one) {
		return one.StatusError
	}
	return err
}

// err returns the error of a list of a version: nil if all objects were read, and end, the error that ended the list, if none is unreadable.
func (u unreadables) err(version *catalog.Version, end error) error {
	if len(u) == 0 {
		return end
	}
	var causes []metav1.StatusCause
	for _, one := range u {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeUnexpectedServerResponse, Field: one.key, Message: storageError(one.key, one.why).Error(),
		})
	}
	switch {
	case len(u) >= maxUnreadable:
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	case end != nil:
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: end.Error()})
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", version.GroupResource(), causes[0].Message)
	if more := len(u) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError, Message: message,
		Details: &metav1.StatusDetails{Name: "list", Group: version.Group, Kind: version.Plural, Causes: causes},
	}}
}
