package managedfields

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// ResetPolicy says what becomes of an apply whose configuration has fields that the endpoint resets.
type ResetPolicy uint8

// The policies.
const (
	// StripResetFields merges such fields, but neither owns them nor finds conflicts on them. The caller restores them in the
	// outcome. kube-apiserver does so.
	StripResetFields ResetPolicy = iota
	// RejectResetFields refuses the apply with a [*ResetFieldsError].
	RejectResetFields
)

// ResetFieldsError is an apply that has fields which the endpoint resets.
type ResetFieldsError struct{ Fields fieldpath.Set }

// Error lists the fields.
func (e *ResetFieldsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration has %s that this endpoint does not write:", countFields(e.Fields))
	for path := range e.Fields.All() {
		fmt.Fprintf(&b, "\n- %v", path)
	}
	return b.String()
}

// refuseResetFields carries out RejectResetFields:
//
//	S13  What an endpoint resets is merged like the rest, but not owned and not in conflict; the caller restores it. A
//	     policy of its own refuses such applies.
func (w *write) refuseResetFields(config typed.Value) error {
	if w.config.ResetPolicy != RejectResetFields {
		return nil
	}
	fields := config.Fields().Minus(systemFields)
	if reset := fields.Minus(w.config.ResetFields[w.apiVersion].Keep(fields)); !reset.IsEmpty() {
		return &ResetFieldsError{Fields: reset}
	}
	return nil
}
