// Package finding finds defects of objects, of their managed fields and of schemas, and their positions in files.
//
// Its nouns are [Finding] and [Defect]. [OfObject] adds positions to the findings of package ownership in managed fields, [OfSchemas] finds
// lists that managers cannot share, and [Defects] finds violations of the schema. Package report prints them.
package finding

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/ownership"
)

// owning gives access to the internals of ownership beyond its API.
var owning = door.Open(ownership.Internal{})

// Codes holds the codes of findings; those about managed fields are in the order of docs/check.md.
var Codes = append(ownership.Codes(), atomicListCode, objectSetCode)

// Finding is a finding with its position and a masked text.
type Finding struct {
	Code    ownership.Code
	Entry   int    // the index of the entry; -1 if the finding is not about an entry
	Manager string // the manager of the entry
	Detail  string // the defect
	Remedy  string // advice

	Where   notice.Position
	Subject string
	Object  *manifest.Object // nil for schemas outside of objects
	Kind    string           // the kind of a finding about a schema
	Place   string           // the path; in schemas, the path of the list. Empty if the finding has none
	Places  []string         // the paths, if the finding has several
}

// OfEntry reports whether x is about an entry of managed fields.
func (x Finding) OfEntry() bool { return x.Kind == "" && x.Entry >= 0 }

// String returns the finding without its position in a file.
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
