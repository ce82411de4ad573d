package dryrun

import (
	"fmt"
	"strconv"

	"github.com/deed-project/deed/merge"
)

// IdentityError is a configuration that names another object than the one that is stored, or another state of it. The server
// refuses it.
type IdentityError struct {
	Field       string // of the metadata: uid or resourceVersion
	Given, Live string // Live is empty if nothing is stored
}

// Error says what the server answers.
func (e *IdentityError) Error() string {
	switch {
	case e.Field == "resourceVersion":
		return fmt.Sprintf("409 Conflict: the object has been modified; please apply your changes to the latest version and try again: "+
			"metadata.resourceVersion is %q, but %q is stored", e.Given, e.Live)
	case e.Live == "":
		return fmt.Sprintf("409 Conflict: uid mismatch: metadata.uid is %q, but no object is stored: leave it out", e.Given)
	}
	return fmt.Sprintf("422 Invalid: metadata.%s: Invalid value: %q: field is immutable: %q is stored", e.Field, e.Given, e.Live)
}

// checkIdentity returns an [*IdentityError] if what is given names another object, or another state of it, than the stored one, or
// the error of the server for a state that is none. The server compares the state first. An update that creates an object gives it a new uid.
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
			return &IdentityError{field, given, live}
		}
	}
	return nil
}
