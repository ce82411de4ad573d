package read

import (
	"bytes"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// fact is what is known of a stored text that a version shows as it is: nothing is defaulted, pruned or converted when it is read. So
// lists need not decode it.
type fact struct {
	version  *catalog.Version
	other    *fact // of the same text in other versions
	kind     span  // of the member kind, with the comma behind it
	metadata span  // of the value of the member metadata
	labels   span  // of the value of the member labels in it; empty if there is none
	name     span  // of the value of the member name in it
	at       int32 // where the resource version belongs, in the metadata

	columns atomic.Pointer[[]span] // see columnsIn
}

// span is a part of a text.
type span struct{ from, to int32 }

func (s span) in(text []byte) []byte { return text[s.from:s.to] }

// maxFacts is how many texts facts are remembered of.
const maxFacts = 1 << 18

// facts remembers facts by the revision that wrote the text, which no other text has. The zero facts are none and ready. They are safe
// for concurrent use.
type facts struct {
	mu   sync.RWMutex
	of   map[store.Revision]*fact
	past [sharedEvents]store.Revision // those of texts that are to be forgotten, in this order, from next on
	next int
}

// get returns what is known of a text, nil if that is nothing.
func (f *facts) get(v *catalog.Version, r store.Revision) *fact {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.of[r].in(v)
}

// in returns the fact of a version among f and the others; nil if there is none.
func (f *fact) in(v *catalog.Version) *fact {
	for f != nil && f.version != v {
		f = f.other
	}
	return f
}

// all appends what is known of the texts of records, for each of them.
func (f *facts) all(known []*fact, v *catalog.Version, records []store.Record) []*fact {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for i := range records {
		known = append(known, f.of[records[i].Revision].in(v))
	}
	return known
}

// put remembers what is known of a text in a version of which nothing is remembered. When there is no more room, everything else is
// forgotten.
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

// forget forgets the facts about a text that is stored no more, sharedEvents such calls later: watches may be about to tell of it.
func (f *facts) forget(r store.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, f.past[f.next])
	f.past[f.next] = r
	f.next = (f.next + 1) % len(f.past)
}

// drop forgets the facts about texts of a resource. Its cost grows with what is remembered.
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

// onces are locks of who reads a record, so that many watches that begin at once read it once. Records share them.
type onces [64]sync.Mutex

// factOf returns what there is to know of the text of an object, and false if the parts of it do not come as they do in the texts that
// this server writes.
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

// readMetadata passes metadata. The resource version belongs before the first name that is greater, so that names stay in order.
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

// textPrefix is how texts begin that this server writes.
const textPrefix = `{"apiVersion":"`

// appendTo appends the text of an object with its resource version, and without saying what it is if it is to be bare.
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

// appendVersioned appends a part of the text that has the metadata in it, with the resource version.
func (f *fact) appendVersioned(b, text []byte, part span, r store.Revision) []byte {
	b = append(b, text[part.from:f.at]...)
	b = append(b, `"resourceVersion":"`...)
	b = appendInt(b, int64(r))
	b = append(b, `",`...)
	return append(b, text[f.at:part.to]...)
}

// lookup returns the text of the value that names lead to in the text of an object, nil if there is none. It passes the metadata at once,
// unless names lead there.
func (f *fact) lookup(text []byte, names []string) []byte {
	found := f.find(text, names)
	if found == (span{}) {
		return nil
	}
	return found.in(text)
}

// find is lookup for where the value stands; the zero span if there is none.
func (f *fact) find(text []byte, names []string) span {
	r := jsontext.Skim(text)
	for depth, name := range names {
		found := false
		r.Members(func(start, end int) bool {
			switch member := text[start+1 : end-1]; {
			case string(member) == name:
				found = true
				return false
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

// columnsIn returns where in a text the values at paths stand, the zero span for nothing. The paths are those of the columns of the
// version: they are looked up once for each text.
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

// isName reports whether a path leads to the name of an object, which stands behind the managed fields in its text, and in facts.
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
