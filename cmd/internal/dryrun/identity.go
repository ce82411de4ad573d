package dryrun

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/deed-project/deed/merge"
)

// IdentityError is a configuration that names another object than the one that is stored, or
// another state of it. The server refuses it.
type IdentityError struct {
	Operation   merge.Operation
	Field       string // of the metadata: uid or resourceVersion
	Given, Live string // Live is empty if nothing is stored
}

// Code returns the HTTP status of the server's answer. What differs from the stored object is a
// conflict, but for the uid in a configuration that is applied: that is merged, and then may not
// change.
func (e *IdentityError) Code() int {
	if e.Field == "uid" && e.Live != "" && e.Operation == merge.Apply {
		return http.StatusUnprocessableEntity
	}
	return http.StatusConflict
}

// Reason returns what the server says of the field.
func (e *IdentityError) Reason() string {
	switch {
	case e.Field == "resourceVersion":
		return "the object has been modified; please apply your changes to the latest version and try again"
	case e.Live == "":
		return fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", e.Given)
	case e.Code() == http.StatusConflict:
		return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", e.Given, e.Live)
	}
	return fmt.Sprintf("Invalid value: %q: field is immutable", e.Given)
}

// Valueless says that the error shows only what identifies the object: see [secret.Valueless].
func (e *IdentityError) Valueless() {}

// Error says what the server answers.
func (e *IdentityError) Error() string {
	switch {
	case e.Field == "resourceVersion":
		return fmt.Sprintf("409 Conflict: %s: metadata.resourceVersion is %q, but %q is stored", e.Reason(), e.Given, e.Live)
	case e.Live == "":
		return fmt.Sprintf("409 Conflict: uid mismatch: metadata.uid is %q, but no object is stored: leave it out", e.Given)
	case e.Code() == http.StatusConflict:
		return fmt.Sprintf("409 Conflict: metadata.uid is %q, but that of the stored object is %q", e.Given, e.Live)
	}
	return fmt.Sprintf("422 Invalid: metadata.%s: %s: %q is stored", e.Field, e.Reason(), e.Live)
}

// checkIdentity returns an [*IdentityError] if what is given names another object, or another state
// of it, than the stored one, or the error of the server for a state that is none. The server
// compares the state first. An update that creates an object gives it a new uid.
func (t *Task) checkIdentity(op merge.Operation) error {
	for _, field := range []string{"resourceVersion", "uid"} {
		given, live := t.Given.Content.Get("metadata", field).Str(), t.Stored.Content.Get("metadata", field).Str()
		if given == "" || given == live {
			continue
		}
		if field == "resourceVersion" {
			if _, err := strconv.ParseUint(given, 10, 64); err != nil {
				return err
			}
		}
		creates := t.Live == nil
		if !creates && live != "" || creates && field == "uid" && op == merge.Apply {
			return &IdentityError{op, field, given, live}
		}
	}
	return nil
}
