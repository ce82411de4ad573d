// Package finding finds what is wrong with objects, their managed fields and schemas, and says
// where in which file it stands.
//
// Its nouns are [Finding] and [Defect]. [OfObject] places what package ownership finds in managed
// fields, [OfSchemas] finds lists that managers cannot share, and [Defects] is where an object is
// not as its schema wants it. How they read is the business of package report.
package finding

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/ownership"
)

// owning is what this package needs of ownership beyond its API.
var owning = door.Open(ownership.Internal{})

// Codes are the codes of findings, those about managed fields in the order of docs/check.md.
var Codes = append(ownership.Codes(), atomicListCode, objectSetCode)

// Finding is a finding with its place, in words that may be shown.
type Finding struct {
	Code    ownership.Code
	Entry   int    // its index; -1 when the finding is not about an entry
	Manager string // of the entry
	Detail  string // what is wrong
	Remedy  string // what to do about it

	Where   notice.Position
	Subject string
	Object  *manifest.Object // nil for schemas that are in no object
	Kind    string           // that a finding about a schema is about
	Place   string           // the path; in schemas, that of the list. Empty if the finding is about none
	Places  []string         // the paths, if it is about several
}

// OfEntry reports whether x is about an entry of managed fields.
func (x Finding) OfEntry() bool { return x.Kind == "" && x.Entry >= 0 }

// String returns the finding without its place in a file.
func (x Finding) String() string {
	words := []string{string(x.Code)}
	if x.Kind != "" {
		words = append(words, x.Kind)
	}
	if x.OfEntry() {
		words = append(words, fmt.Sprintf("metadata.managedFields[%d], manager %q", x.Entry, x.Manager))
	}
	if x.Place != "" || x.Kind != "" {
		words = append(words, x.Place)
	}
	return strings.Join(append(words, x.Detail), ": ")
}
