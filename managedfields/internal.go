package managedfields

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// What this package needs of the packages below beyond their API.
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

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// Read reads entry i of entries alone. The error is an [*EntryError], for the reasons that [Decode]
// has; along with it comes whose entry it is.
func (internal) Read(entries []Entry, i int) (merge.Entry, error) { return readOne(entries, i) }

// Identity returns the manager that e is of. An applier is the same in all versions.
func (internal) Identity(e Entry) merge.Manager { return e.identity() }

// Document returns f as a document, and null for the absent Fields. The error says why the text is
// no JSON, or the map no document.
func (internal) Document(f Fields) (value.Value, error) { return f.document() }

// Sent returns what the content of o was read from, or what an apply made before [Config.Hold]; absent
// if it is not known.
func (internal) Sent(o Object) value.Value { return o.sent }

// WithSent returns o with what its content was read from.
func (internal) WithSent(o Object, sent value.Value) Object {
	o.sent = sent
	return o
}

// CacheSize returns how many bytes c holds.
func (internal) CacheSize(c *Cache) int { return c.size() }

// Check returns an error unless [New] made m.
func (internal) Check(m *FieldManager) error { return m.check() }

// Config returns what m serves, with what [New] filled in. Its maps must not be modified.
func (internal) Config(m *FieldManager) Config { return m.config }

// SystemFields returns the fields that nobody comes to own, because they are identity or bookkeeping
// of the server: rule S7.
func (internal) SystemFields() fieldpath.Set { return systemFields }

// NoType returns the error for a version of a kind that there is no type for. It wraps
// [merge.ErrNoVersion], in the words of kube-apiserver.
func (internal) NoType(gvk schema.GVK) error { return &noTypeError{gvk} }

// Merge returns the plan of the engine underneath: what the apply makes of the object, and of who
// owns it, before defaults are filled in and before kubectl's annotation is brought up to date.
func (internal) Merge(p *Plan) *merge.Plan { return p.merge }

// Stored returns who owns what in the live object of p: what [Decode] returns for its entries.
func (internal) Stored(p *Plan) merge.Managers { return p.stored.managers }

// LastApplied returns kubectl's record of its client-side apply in object, and whether there is
// one. There is none among annotations of which one is no string.
func (internal) LastApplied(object value.Value) (record string, found bool) {
	return lastApplied(object)
}

// ReadLastApplied reads kubectl's record as kube-apiserver does: repaired, and with names that come
// twice, of which the last counts. The error is a [*value.SyntaxError].
func (internal) ReadLastApplied(record string) (value.Value, error) { return readLastApplied(record) }

// Minor returns the minor release of a release that [ProfileOf] knows, such as 33, and 0 for any other.
func (internal) Minor(release string) int {
	minor, _, err := parseRelease(release)
	if err != nil {
		return 0
	}
	return minor
}
