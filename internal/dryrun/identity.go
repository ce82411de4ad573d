package dryrun

import "fmt"

// IdentityError is a configuration that names another object than the one that is stored, or another state of it. The server
// refuses it.
type IdentityError struct {
	Field       string // of the metadata: uid or resourceVersion
	Given, Live string
}

// Error says what the server answers.
func (e *IdentityError) Error() string {
	if e.Field == "resourceVersion" {
		return fmt.Sprintf("409 Conflict: the object has been modified; please apply your changes to the latest version and try again: "+
			"metadata.resourceVersion is %q, but %q is stored", e.Given, e.Live)
	}
	return fmt.Sprintf("422 Invalid: metadata.%s: Invalid value: %q: field is immutable: %q is stored", e.Field, e.Given, e.Live)
}

// checkIdentity returns an [*IdentityError] if the configuration names another object, or another state of it, than the stored
// one. The server compares the state first.
func (t *Task) checkIdentity() error {
	for _, field := range []string{"resourceVersion", "uid"} {
		given, live := t.Given.Content.At("metadata", field).Str(), t.Stored.Content.At("metadata", field).Str()
		if given != "" && live != "" && given != live {
			return &IdentityError{field, given, live}
		}
	}
	return nil
}
