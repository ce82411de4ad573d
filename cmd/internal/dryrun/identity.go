package dryrun

import (
	"fmt"
	"strconv"

	"github.com/deed-project/deed/merge"
)

// The HTTP statuses of a server's refusals. Package net/http, which names them too, is large.
const (
	statusConflict = 409
	StatusInvalid  = 422
)

// IdentityError reports a configuration whose uid or resourceVersion differs from that of the stored object. The server refuses it.
type IdentityError struct {
	Operation   merge.Operation
	Field       string // in the metadata: uid or resourceVersion
	Given, Live string // Live is empty if nothing is stored
}

// Code returns the HTTP status of the server's answer. A mismatch is a conflict, except for the uid in an applied configuration: it is
// merged, and is an immutable field then.
func (e *IdentityError) Code() int {
	if e.Field == "uid" && e.Live != "" && e.Operation == merge.Apply {
		return StatusInvalid
	}
	return statusConflict
}

// Reason returns the server's message about the field.
func (e *IdentityError) Reason() string {
	switch {
	case e.Field == "resourceVersion":
		return "the object has been modified; please apply your changes to the latest version and try again"
	case e.Live == "":
		return fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", e.Given)
	case e.Code() == statusConflict:
		return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", e.Given, e.Live)
	}
	return fmt.Sprintf("Invalid value: %q: field is immutable", e.Given)
}

// Valueless marks the error as showing only values that identify the object: see [secret.Valueless].
func (e *IdentityError) Valueless() {}

// Error returns the answer of the server, with both values.
func (e *IdentityError) Error() string {
	switch {
	case e.Field == "resourceVersion":
		return fmt.Sprintf("409 Conflict: %s: metadata.resourceVersion is %q, but %q is stored", e.Reason(), e.Given, e.Live)
	case e.Live == "":
		return fmt.Sprintf("409 Conflict: uid mismatch: metadata.uid is %q, but no object is stored: leave it out", e.Given)
	case e.Code() == statusConflict:
		return fmt.Sprintf("409 Conflict: metadata.uid is %q, but that of the stored object is %q", e.Given, e.Live)
	}
	return fmt.Sprintf("422 Invalid: metadata.%s: %s: %q is stored", e.Field, e.Reason(), e.Live)
}

// checkIdentity returns an [*IdentityError] if uid or resourceVersion of the given object differ from the stored object. For a malformed
// resourceVersion it returns the error of the server. The server compares the resourceVersion first. An update that creates an object
// ignores the given uid.
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
