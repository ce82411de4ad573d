package read

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Serving stored texts. This server writes an object as JSON with sorted names and without a resource version. If the version of a request
// would show the very same object, an answer is the stored text with the version spliced in:
//
//	text      {"apiVersion":"v1","data":{...},"kind":"ConfigMap","metadata":{"labels":{...},"name":"a","uid":"..."}}
//	kind                                      [                 ]
//	metadata                                                                [                                     ]
//	at                                                                                                 ^
//	answer    {"apiVersion":"v1","data":{...},"kind":"ConfigMap","metadata":{"labels":{...},"name":"a","resourceVersion":"7","uid":"..."}}
//
// A fact says where these places are. It takes some 100 bytes, needs no decoded object, and costs one scan of the text when it is made.
//
// Invariant: with a fact about a text in a version, decoding the text and printing the object gives the spliced text, byte for byte. Only
// callers that have compared the two make facts: View.ReadOnce after a read, and a write after it read its object back.

// fact holds the positions of parts in a stored text that a version serves unchanged: decoding it would not default, prune or convert
// anything. With a fact, lists use the text without decoding it.
//
// It is immutable, except other, which facts guards, and columns. The positions are int32, since an object has at most a few megabytes.
type fact struct {
	version  *catalog.Version
	other    *fact // about the same text in other versions
	kind     span  // of the member kind, with the comma after it
	metadata span  // of the value of the member metadata
	labels   span  // of the value of the member labels in the metadata; empty for none
	name     span  // of the value of the member name in the metadata
	at       int32 // position for the resource version in the metadata
	border   bool  // a block of a compressed list ends with the object, see isBorder

	// columns is set by the first Table; goroutines may compute it at the same time, with the same outcome.
	columns atomic.Pointer[[]span] // see columnsIn
}

// span is a part of a text.
type span struct{ from, to int32 }

// in returns the part of a text. It shares memory with the text.
func (s span) in(text []byte) []byte { return text[s.from:s.to] }

// maxFacts bounds the number of texts with facts.
const maxFacts = 1 << 18

// facts caches facts by the revision that wrote the text, which identifies the text. The zero value is empty. It is safe for concurrent
// use.
//
// A revision identifies a text, because a store gives each write its own revision. Only etcd may delete several records at one.
type facts struct {
	// mu guards all other fields, and fact.other.
	mu   sync.RWMutex
	of   map[store.Revision]*fact
	past [sharedEvents]store.Revision // a ring of outdated revisions, dropped in order from next on
	next int
}

// The readers below take the lock for one lookup in a map, and a page of a list takes it once; see all.
// get returns the fact about a text, or nil.
func (f *facts) get(v *catalog.Version, r store.Revision) *fact {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.of[r].in(v)
}

// in returns the fact for a version among f and its others, or nil.
func (f *fact) in(v *catalog.Version) *fact {
	for f != nil && f.version != v {
		f = f.other
	}
	return f
}

// all appends the fact about each record, or nil.
func (f *facts) all(known []*fact, v *catalog.Version, records []store.Record) []*fact {
	known = slices.Grow(known, len(records))
	f.mu.RLock()
	defer f.mu.RUnlock()
	for i := range records {
		known = append(known, f.of[records[i].Revision].in(v))
	}
	return known
}

// put caches the fact about a text in a version that has none. If the cache is full, put empties it.
//
// Emptying is simpler than choosing what to drop. The facts that are needed come back with the next reads.
func (f *facts) put(r store.Revision, known *fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil || len(f.of) >= maxFacts {
		f.of = map[store.Revision]*fact{}
	}
	if f.of[r].in(known.version) == nil {
		known.other = f.of[r]
		f.of[r] = known
	}
}

// forget marks the facts about a replaced text as outdated. It drops them only sharedEvents calls later, because watches may still need the
// text for an event.
func (f *facts) forget(r store.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, f.past[f.next])
	f.past[f.next] = r
	f.next = (f.next + 1) % len(f.past)
}

// drop removes the facts about texts of a resource. Its cost is the size of the cache.
func (f *facts) drop(resource *catalog.Resource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.of, func(_ store.Revision, known *fact) bool {
		for known != nil && known.version.Resource != resource {
			known = known.other
		}
		return known != nil
	})
}

// onces are locks by record, so that many watches that begin at once read a record once. Records share locks.
//
// The lock of a record is held while the record is decoded, so requests for other records with the same lock wait, too.
type onces [64]sync.Mutex

// factOf computes the fact about the text of an object. It returns false if the parts do not have the order in which this server writes
// them.
//
// It scans members until the end of the metadata. kind comes before metadata, as names are sorted. A text with another order is not of this
// server and gets no fact. Members after the metadata are not scanned.
func factOf(v *catalog.Version, text []byte) (*fact, bool) {
	f := &fact{version: v}
	r := jsontext.Skim(text)
	complete := false
	r.Members(func(start, end int) bool {
		switch name := string(text[start+1 : end-1]); name {
		case "kind":
			if r.Skip() != nil {
				return false
			}
			f.kind = newSpan(start, r.Pos+1)
			return true
		case "metadata":
			from := r.Pos
			complete = f.readMetadata(&r, text)
			f.metadata = newSpan(from, r.Pos)
			return false
		}
		return r.Skip() == nil
	})
	return f, complete && f.kind.to > 0 && f.at > 0 && bytes.HasPrefix(text, []byte(textPrefix))
}

// readMetadata scans the metadata. The resource version goes before the first greater name, so that names stay sorted.
//
// It fails for metadata without a greater name, for example without a uid, since then there is no place that a comma follows. It also fails
// for metadata that have a resource version.
func (f *fact) readMetadata(r *jsontext.Scanner, text []byte) bool {
	const version = "resourceVersion"
	return r.Members(func(start, end int) bool {
		name := string(text[start+1 : end-1])
		if f.at == 0 && name > version {
			f.at = int32(start)
		}
		from := r.Pos
		if name == version || r.Skip() != nil {
			return false
		}
		switch name {
		case "labels":
			f.labels = newSpan(from, r.Pos)
		case "name":
			f.name = newSpan(from, r.Pos)
		}
		return true
	})
}

func newSpan(from, to int) span { return span{int32(from), int32(to)} }

// textPrefix is the begin of every text that this server writes.
const textPrefix = `{"apiVersion":"`

// appendTo appends the text of an object with its resource version. bare omits apiVersion and kind.
//
// Items of a list of built-in kinds are bare, since the list says what they are. That leaves out the first member and the span of the kind.
func (f *fact) appendTo(b, text []byte, r store.Revision, bare bool) []byte {
	from := int32(0)
	if bare {
		b = append(b, '{')
		second := len(textPrefix) + bytes.IndexByte(text[len(textPrefix):], '"') + len(`",`)
		b = append(b, text[second:f.kind.from]...)
		from = f.kind.to
	}
	return f.appendVersioned(b, text, span{from, int32(len(text))}, r)
}

// appendMetadata appends the metadata of an object with its resource version.
func (f *fact) appendMetadata(b, text []byte, r store.Revision) []byte {
	return f.appendVersioned(b, text, f.metadata, r)
}

// appendVersioned appends a part of the text that contains the metadata, with the resource version.
func (f *fact) appendVersioned(b, text []byte, part span, r store.Revision) []byte {
	b = append(b, text[part.from:f.at]...)
	b = append(b, `"resourceVersion":"`...)
	b = appendInt(b, int64(r))
	b = append(b, `",`...)
	return append(b, text[f.at:part.to]...)
}

// lookup returns the text of the value at a path of names in the text of an object, or nil. It skips the metadata without scanning unless
// the path leads into it.
func (f *fact) lookup(text []byte, names []string) []byte {
	found := f.find(text, names)
	if found == (span{}) {
		return nil
	}
	return found.in(text)
}

// find is lookup for the position of the value; it returns the zero span if there is none.
func (f *fact) find(text []byte, names []string) span {
	r := jsontext.Skim(text)
	for depth, name := range names {
		found := false
		r.Members(func(start, end int) bool {
			switch member := text[start+1 : end-1]; {
			case string(member) == name:
				found = true
				return false
			// Jump over the metadata: with managed fields, it is often the longest member.
			case depth == 0 && r.Pos == int(f.metadata.from):
				r.Pos = int(f.metadata.to)
				return true
			}
			return r.Skip() == nil
		})
		if !found {
			return span{}
		}
	}
	from := r.Pos
	if r.Skip() != nil {
		return span{}
	}
	return newSpan(from, r.Pos)
}

// columnsIn returns the positions of the values at paths in a text, with the zero span for none. The paths are those of the version's
// columns. They are searched once for each text.
//
// It takes paths as they are on the first call: a version has one set of columns, and a definition that changes them has another version.
func (f *fact) columnsIn(text []byte, paths [][]string) []span {
	if known := f.columns.Load(); known != nil {
		return *known
	}
	found := make([]span, len(paths))
	for i, path := range paths {
		if found[i] = f.name; !isName(path) {
			found[i] = f.find(text, path)
		}
	}
	f.columns.Store(&found)
	return found
}

// isName reports whether a path is that of the name. In the text the name comes after the managed fields, but the fact has its position.
func isName(path []string) bool { return len(path) == 2 && path[0] == "metadata" && path[1] == "name" }

// text returns a function that appends the text of a stored object with its resource version. It is nil for a nil fact.
func (f *fact) text(record store.Record) func([]byte) []byte {
	if f == nil {
		return nil
	}
	return func(b []byte) []byte { return f.appendTo(b, record.Text, record.Revision, false) }
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// NameIn returns the name of the object that has a key.
func NameIn(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
