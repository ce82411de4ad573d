package types

import (
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
)

// StatusName is both a subresource and the field that it writes.
const StatusName = custom.StatusName

// Restore returns outcome with the stored values of the fields that the endpoint does not write.
func (e *Endpoint) Restore(stored, outcome managedfields.Object) managedfields.Object {
	switch e.Restores {
	case RestoreStatus:
		if !stored.Content.Get(StatusName).Equal(outcome.Content.Get(StatusName)) {
			outcome.Content = outcome.Content.With(StatusName, stored.Content.Get(StatusName))
		}
	case RestoreRest:
		content := outcome.Content
		outcome.Content = stored.Content.With("apiVersion", content.Get("apiVersion")).With("kind", content.Get("kind")).
			With(StatusName, content.Get(StatusName))
	}
	return outcome
}

// Restoration names the fields that an endpoint restores.
type Restoration uint8

const (
	RestoreNothing Restoration = iota
	RestoreStatus
	RestoreRest // everything but the status
)
