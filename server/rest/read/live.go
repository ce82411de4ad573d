package read

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Live is a stored object as a version shows it.
//
// It is shared with the cache and must not be modified. Faultless, Evidence, Settled and Writes are set only for an object that this process
// wrote and keeps in the cache. For one that was read from its text they are zero, which claims nothing.
type Live struct {
	managedfields.Object
	Record store.Record // its Revision is 0 if nothing is stored
	// Faultless tells that validation found nothing wrong with the object when it was written, and gave no warning.
	Faultless bool
	Evidence  catalog.Evidence // of that validation
	Settled   bool             // see SettledContent
	Writes    int              // how many writes ago the object was read from its text, see View.Keep
}

// Exists reports whether the object is stored.
func (l *Live) Exists() bool { return l.Record.Revision != 0 }

// SettledContent returns the content of an object if reading its stored text gives exactly that content, and absent otherwise. A part of
// another object that is the same storage in the same place need not be read again.
func (l *Live) SettledContent() value.Value {
	if !l.Settled {
		return value.Value{}
	}
	return l.Content
}

// WithVersion returns content with the resource version that a revision stands for, and without one for revision 0.
func WithVersion(content value.Value, revision store.Revision) value.Value {
	if revision == 0 {
		return api.WithMetadata(content, "resourceVersion", value.Value{})
	}
	return api.WithMetadata(content, "resourceVersion", value.String(strconv.FormatInt(int64(revision), 10)))
}

// ReadsBack reports whether v is surely the same when its text is read. Otherwise a whole number that is a float here may be printed as
// an integer, and text that is no UTF-8 as other text. Parts of known, absent for none, read back.
//
// It is called after each write and must be cheap: parts that are the same storage in known are skipped, so the cost follows the change.
// The answer may be false for a value that would read back.
func ReadsBack(v, known value.Value) bool {
	if v.Same(known) {
		return true
	}
	switch v.Kind() {
	// 1.0 is printed as 1, and reads as an integer.
	case value.KindFloat:
		return v.Float() != math.Trunc(v.Float())
	case value.KindString:
		return utf8.ValidString(v.Str())
	case value.KindList:
		for i := range v.Len() {
			if !ReadsBack(v.Item(i), beside.Item(known, i)) {
				return false
			}
		}
	case value.KindObject:
		others := beside.Of(known)
		for i := range v.Len() {
			if m := v.Member(i); !utf8.ValidString(m.Name) || !ReadsBack(m.Value, others.Get(m.Name)) {
				return false
			}
		}
	}
	return true
}
