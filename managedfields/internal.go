package managedfields

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The functions below the API of lower packages that this package uses.
var (
	documents = door.Open(value.Internal{})
	paths     = door.Open(fieldpath.Internal{})
	schemas   = door.Open(schema.Internal{})
	typing    = door.Open(typed.Internal{})
	merging   = door.Open(merge.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is the type behind the door. It has no fields, so that its methods act as functions.
type internal struct{}

// Read reads entry i of entries alone. The error is an [*EntryError], for the same reasons as in
// [Decode]. The manager of the entry is returned also with an error.
func (internal) Read(entries []Entry, i int) (merge.Entry, error) { return readOne(entries, i) }

// Identity returns the manager of e. An applier is the same manager in all versions.
func (internal) Identity(e Entry) merge.Manager { return e.identity() }

// Document returns f as a document, and null for the absent Fields. It returns an error if the text
// is no JSON, or if the map is no document.
func (internal) Document(f Fields) (value.Value, error) { return f.document() }

// Sent returns the document from which the content of o was read, or the outcome of an apply before
// [Config.Hold]. It is absent if it is not known.
func (internal) Sent(o Object) value.Value { return o.sent }

// WithSent returns o with sent as the document from which its content was read.
func (internal) WithSent(o Object, sent value.Value) Object {
	o.sent = sent
	return o
}

// CacheSize returns the number of bytes that c holds.
func (internal) CacheSize(c *Cache) int { return c.size() }

// Check returns an error unless [New] made m.
func (internal) Check(m *FieldManager) error { return m.check() }

// Config returns the configuration of m, completed by [New]. The caller must not modify its maps.
func (internal) Config(m *FieldManager) Config { return m.config }

// SystemFields returns the fields that no manager comes to own, because they identify the object or
// belong to the bookkeeping of the server: rule S7.
func (internal) SystemFields() fieldpath.Set { return systemFields }

// NoType returns the error for a version of a kind without a type. It wraps [merge.ErrNoVersion],
// and has the words of kube-apiserver.
func (internal) NoType(gvk schema.GVK) error { return &noTypeError{gvk} }

// Merge returns the plan of the merge engine. It holds the merged object and its owners, before
// defaults are filled in and before kubectl's annotation is brought up to date.
func (internal) Merge(p *Plan) *merge.Plan { return p.merge }

// Stored returns the managers of the live object of p, as [Decode] returns them for its entries.
func (internal) Stored(p *Plan) merge.Managers { return p.stored.managers }

// LastApplied returns kubectl's record of its client-side apply in object. It finds no record if
// one of the annotations is neither a string nor null.
func (internal) LastApplied(object value.Value) (record string, found bool) {
	return lastApplied(object)
}

// ReadLastApplied reads kubectl's record as kube-apiserver does. It repairs the text, and the last
// one of repeated names counts. The error is a [*value.SyntaxError].
func (internal) ReadLastApplied(record string) (value.Value, error) { return readLastApplied(record) }

// Minor returns the minor release of a release that [ProfileOf] knows, such as 33, and 0 for
// others.
func (internal) Minor(release string) int {
	minor, _, err := parseRelease(release)
	if err != nil {
		return 0
	}
	return minor
}
