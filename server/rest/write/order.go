package write

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// ordered caches texts of fieldsV1 with their names in the order of maps. Objects that are made alike have the same fields, and an object
// has them again at the next write. The zero value is empty and ready. It is safe for concurrent use.
type ordered struct {
	// A slot holds the text that was cached last for its hashes, or nil. A collision replaces it, so the cache needs no eviction and no
	// lock.
	texts [64]atomic.Pointer[arranged] // each in the place that its hash says
}

// arranged is a text of fieldsV1, and the same text with its names in order. The two share memory if they are equal.
type arranged struct{ text, ordered string }

// maxOrdered is the longest text that is cached, so that the cache holds at most two megabytes.
const maxOrdered = 16 << 10

var orderedSeed = maphash.MakeSeed()

// arrange makes every fieldsV1 of entries a text with its names in bytewise order: as kube-apiserver prints custom resources, which it
// holds as maps. A set has the port 80 before 443, and a map has it behind.
//
// The cost is one pass over a text that is cached, and a parse of another one.
//
// It writes to entries, which the caller must own. Texts that are in order keep their storage.
func (o *ordered) arrange(entries []managedfields.Entry) error {
	for i, e := range entries {
		if e.FieldsV1.IsAbsent() {
			continue
		}
		text, err := o.text(e.FieldsV1.String())
		if err != nil {
			return err
		}
		entries[i].FieldsV1 = managedfields.FieldsOf(text)
	}
	return nil
}

// text returns a text of fieldsV1 with its names in order.
func (o *ordered) text(text string) (string, error) {
	known := &o.texts[maphash.String(orderedSeed, text)%uint64(len(o.texts))]
	if found := known.Load(); found != nil && found.text == text {
		return found.ordered, nil
	}
	document, err := value.Parse([]byte(text))
	if err != nil {
		return "", err
	}
	out := document.String()
	// Let the two share memory, so that the cache holds one text.
	if out == text {
		out = text
	}
	if len(text) <= maxOrdered {
		known.Store(&arranged{text, out})
	}
	return out, nil
}
