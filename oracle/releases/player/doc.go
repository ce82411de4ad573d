// Package player answers writes to custom resources and to built-in kinds with the field manager of the k8s.io/apimachinery that it is built with. It is a test,
// because only a test has the clock of testing/synctest.
//
// Package releases builds it once for each release of Kubernetes, in a module of that release, and asks it over standard input and output:
// one [Question] a line, one [Reply] a line.
package player

import (
	"encoding/json"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Question asks for the answer to a write. What is said of the kind is sent once, and then kept.
type Question struct {
	Builtin  bool                    `json:"builtin,omitempty"` // the kind is one of client-go's
	Schemas  map[string]*spec.Schema `json:"schemas,omitempty"`
	Preserve bool                    `json:"preserve,omitempty"` // the definition preserves unknown fields
	Versions []string                `json:"versions,omitempty"` // the served ones, by apiVersion
	Kind     string                  `json:"kind,omitempty"`

	APIVersion  string          `json:"apiVersion"`
	Subresource string          `json:"subresource"`
	Verb        string          `json:"verb"` // apply, force, update or quiet
	Manager     string          `json:"manager"`
	Time        time.Time       `json:"time"` // of the write; the clock does not go back
	Live        json.RawMessage `json:"live"` // null if there is no object
	Body        json.RawMessage `json:"body"`
}

// Reply is the answer to a write: the object, or the error with its status, if it has one.
type Reply struct {
	Object json.RawMessage `json:"object,omitempty"`
	Error  string          `json:"error,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}
