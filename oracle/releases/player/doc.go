// Package player answers writes to custom resources and to built-in kinds with the field manager of the k8s.io/apimachinery that it is built with.
// It is a test, because only a test has the clock of testing/synctest.
//
// Package releases builds it once for each release of Kubernetes, in a module of that release, and asks it over standard input and output.
// A message is one line of JSON, a [Question] or a [Reply], and then the texts of objects whose lengths the line has.
package player

import (
	"encoding/json"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Question asks for the answer to a write. The live object and then the body follow it.
type Question struct {
	World int `json:"world"` // the number of the kind's description

	// The description of the kind comes with the first question of a world, and is kept.

	Builtin  bool                    `json:"builtin,omitempty"` // the kind is one of client-go's
	Schemas  map[string]*spec.Schema `json:"schemas,omitempty"`
	Preserve bool                    `json:"preserve,omitempty"` // the definition preserves unknown fields
	Versions []string                `json:"versions,omitempty"` // the served ones, by apiVersion
	Kind     string                  `json:"kind,omitempty"`
	Forget   []int                   `json:"forget,omitempty"` // worlds that no question is about any more

	APIVersion  string    `json:"apiVersion"`
	Subresource string    `json:"subresource"`
	Verb        string    `json:"verb"` // apply, force, update or quiet
	Manager     string    `json:"manager"`
	Time        time.Time `json:"time"` // of the write; the clock does not go back
	Live        int       `json:"live"` // the length of the object, 0 if there is none
	Body        int       `json:"body"`
}

// Reply is the answer to a write: the object, which follows it, or the error with its status, if it has one.
type Reply struct {
	Object int             `json:"object,omitempty"` // its length, 0 if there is none
	Error  string          `json:"error,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}
