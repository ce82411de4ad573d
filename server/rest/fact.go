package rest

import (
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// fact is what is known of a stored text that a version shows as it is: nothing is defaulted, pruned or converted when it is read. So
// lists need not decode it.
type fact struct {
	labels   value.Value
	kind     span // of the member kind, with the comma behind it
	metadata span // of the value of the member metadata
	at       int  // where the resource version belongs, in the metadata
}

// span is a part of a text.
type span struct{ from, to int }

// maxFacts is how many facts are remembered. Their size is that of the labels, and some.
const maxFacts = 1 << 18

// facts remembers facts by the revision that wrote the text, which no other text has. The zero facts are none and ready. They are safe
// for concurrent use.
type facts struct {
	mu sync.RWMutex
	of map[*catalog.Version]map[store.Revision]*fact
	n  int
}

// get returns what is known of a text, nil if that is nothing.
func (f *facts) get(v *catalog.Version, r store.Revision) *fact {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.of[v][r]
}

// all appends what is known of the texts of records, for each of them.
func (f *facts) all(known []*fact, v *catalog.Version, records []store.Record) []*fact {
	f.mu.RLock()
	defer f.mu.RUnlock()
	of := f.of[v]
	for i := range records {
		known = append(known, of[records[i].Revision])
	}
	return known
}

// put remembers what is known of a text. When there is no more room, everything else is forgotten.
func (f *facts) put(v *catalog.Version, r store.Revision, known *fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n >= maxFacts || f.of == nil {
		f.of, f.n = map[*catalog.Version]map[store.Revision]*fact{}, 0
	}
	if f.of[v] == nil {
		f.of[v] = map[store.Revision]*fact{}
	}
	if _, had := f.of[v][r]; !had {
		f.n++
	}
	f.of[v][r] = known
}

// drop forgets the facts about a resource.
func (f *facts) drop(resource *catalog.Resource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for v, known := range f.of {
		if v.Resource == resource {
			f.n -= len(known)
			delete(f.of, v)
		}
	}
}

// onces are locks of who reads a record, so that many watches that begin at once read it once. Records share them.
type onces [64]sync.Mutex

// known returns what is known of the text of a record, which it reads if nobody did, and nil if there is no such thing.
func (r *Request) known(record store.Record) (*fact, error) {
	if known := r.facts.get(r.Version, record.Revision); known != nil {
		return known, nil
	}
	once := &r.onces[record.Revision%store.Revision(len(r.onces))]
	once.Lock()
	defer once.Unlock()
	if known := r.facts.get(r.Version, record.Revision); known != nil {
		return known, nil
	}
	if _, err := r.readOnce(record); err != nil {
		return nil, err
	}
	return r.facts.get(r.Version, record.Revision), nil
}

// factOf returns what there is to know of the text of an object, and false if it is not as this server writes texts. labels are those of
// the object.
func factOf(text string, labels value.Value) (*fact, bool) {
	f := &fact{labels: labels}
	s := jsontext.Scanner{Text: text}
	found := members(&s, func(name string, from int) bool {
		switch name {
		case "kind":
			if s.Skip() != nil {
				return false
			}
			f.kind = span{from, s.Pos + 1}
		case "metadata":
			at := s
			f.at = versionAt(&at)
			if f.metadata.from = s.Pos; s.Skip() == nil {
				f.metadata.to = s.Pos
			}
			return false
		default:
			return s.Skip() == nil
		}
		return true
	})
	return f, found && !s.Spaced && f.at > 0 && f.kind.to > 0 && f.metadata.to > 0
}

// members calls member with each name of the object at the position, and where it begins; the position is then that of its value. It
// reports whether there was such an object, up to where member returned false.
func members(s *jsontext.Scanner, member func(name string, from int) bool) bool {
	if s.Peek() != '{' {
		return false
	}
	more, err := s.Open('}')
	for more && err == nil {
		from := s.Pos
		name, ok := s.PlainString()
		if !ok || s.Colon() != nil {
			return false
		}
		if !member(name, from) {
			return true
		}
		more, err = s.More('}')
	}
	return err == nil
}

// versionAt returns where in the object at the position, which is metadata, the resource version belongs, so that the names stay in
// order; 0 if there is no such place.
func versionAt(s *jsontext.Scanner) int {
	const name = "resourceVersion"
	at := 0
	ok := members(s, func(member string, from int) bool {
		if member >= name {
			if member > name {
				at = from
			}
			return false
		}
		return s.Skip() == nil
	})
	if !ok {
		return 0
	}
	return at
}

// appendTo appends the text of an object with its resource version, and without saying what it is if it is to be bare.
func (f *fact) appendTo(b, text []byte, r store.Revision, bare bool) []byte {
	from := 0
	if bare {
		b = append(b, '{')
		from = len(`{"apiVersion":"`)
		for text[from] != '"' {
			from++
		}
		from += len(`",`)
		b = append(b, text[from:f.kind.from]...)
		from = f.kind.to
	}
	return f.appendVersioned(b, text, span{from, len(text)}, r)
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
	r := jsontext.Rough{Text: text}
	for depth, name := range names {
		found := false
		r.Members(func(start, end int) bool {
			switch member := text[start+1 : end-1]; {
			case string(member) == name:
				found = true
				return false
			case depth == 0 && r.Pos == f.metadata.from:
				r.Pos = f.metadata.to
				return true
			}
			return r.Value()
		})
		if !found {
			return nil
		}
	}
	from := r.Pos
	if !r.Value() {
		return nil
	}
	return text[from:r.Pos]
}
