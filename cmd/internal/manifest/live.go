package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// Live finds the stored object that a configuration is about, without holding any but those that it
// has to.
type Live struct {
	all   []*Stored
	named map[nameID][]*Stored
	kinds map[nameID]bool // of the objects, without names
	// Count is how many objects there are.
	Count int
	// Complete reports whether all live objects could be read.
	Complete bool
	// Definitions are the CustomResourceDefinitions among the objects.
	Definitions []*Object
}

// nameID is an ID without its namespace.
type nameID struct{ group, kind, name string }

func (id ID) nameID() nameID { return nameID{id.Group, id.Kind, id.Name} }

// Stored says where an object is, and what it is.
type Stored struct {
	ID
	object   *Object // nil where it is read again
	part     *part
	number   int // of the document
	several  bool
	fallback string // see Reader
}

// Index reads texts, and returns where which object is. What is wrong with objects is reported, but
// of a text of 64 KiB or more only what keeps it from being known what they are: the rest shows
// where they are read.
func (c *Loader) Index(texts []*Text, r Reader) *Live {
	before := c.Problems
	l := NewLive(nil)
	for found, objects := range c.chunks(texts, r, chunk.identify) {
		l.addChunk(r, found, objects)
	}
	l.Complete = c.Problems == before
	return l
}

// NewLive returns objects, to be found by what they are.
func NewLive(objects []*Object) *Live {
	l := &Live{named: map[nameID][]*Stored{}, kinds: map[nameID]bool{}, Complete: true}
	for _, o := range objects {
		l.add(o, &Stored{ID: o.Id, object: o})
	}
	return l
}

// addChunk adds what was found in one chunk.
func (l *Live) addChunk(r Reader, found content, objects []*Object) {
	for i, id := range found.quick {
		l.add(nil, &Stored{ID: id, part: found.parts[i], number: found.number, several: found.several, fallback: r.Fallback})
	}
	in := map[*part]int{} // how many objects
	for _, o := range objects {
		in[o.Part]++
	}
	for _, o := range objects {
		s := &Stored{ID: o.Id, part: o.Part, number: o.Number, several: o.several, fallback: r.Fallback}
		if in[o.Part] > 1 || o.Part.data == nil || o.Part.Docs != nil {
			s.object = o // it cannot be read apart from others
		}
		l.add(o, s)
	}
}

// All yields where the objects are, in their order.
func (l *Live) All() iter.Seq[*Stored] { return slices.Values(l.all) }

// definitionKind is that of CustomResourceDefinitions.
const definitionKind = "CustomResourceDefinition"

func (l *Live) add(o *Object, s *Stored) {
	l.Count++
	l.all = append(l.all, s)
	l.kinds[nameID{group: s.Group, kind: s.Kind}] = true
	l.named[s.nameID()] = append(l.named[s.nameID()], s)
	if s.Kind == definitionKind {
		l.Definitions = append(l.Definitions, o)
	}
}

// identify finds out what is in k, from its lines alone if k is a part of a large text and they say
// it.
func (k chunk) identify() content {
	if len(k.text.Data) >= largeText && len(k.parts) == 1 {
		if id, ok := k.parts[0].quickID(); ok && id.Kind != definitionKind && !strings.HasSuffix(id.Kind, ListSuffix) {
			return content{quick: []ID{id}, parts: k.parts, number: k.number, several: k.several}
		}
	}
	return k.read()
}

// Read returns the object, and nil if it is none after all, with all reasons reported.
func (s *Stored) Read(c *Loader) *Object {
	if s.object != nil {
		return s.object
	}
	r := Everything
	r.Loader, r.Text, r.several, r.number, r.Fallback = c, s.part.Text, s.several, max(0, s.number-1), s.fallback
	p := s.part.read()
	if p.frame != nil && p.item > 0 {
		r.number++
	}
	objects := r.take(p)
	if len(objects) == 0 {
		return nil
	}
	return objects[0]
}

// at returns the position of the object.
func (s *Stored) at() notice.Position {
	if o := s.Read(&Loader{Log: notice.NewLog(new(bytes.Buffer), nil)}); o != nil {
		return o.At()
	}
	return notice.InFile(s.part.Text.Name)
}

// FindAs is Find for a config that stands for an object of another kind, one for which wanted
// reports true. The cost grows with the number of kinds.
func (l *Live) FindAs(config ID, wanted func(group, kind string) bool) (*Stored, error) {
	var found []*Stored
	for as := range l.kinds {
		if !wanted(as.group, as.kind) {
			continue
		}
		sought := config
		sought.Group, sought.Kind = as.group, as.kind
		s, err := l.Find(sought)
		if err != nil {
			return nil, err
		}
		if s != nil {
			found = append(found, s)
		}
	}
	if len(found) < 2 {
		return append(found, nil)[0], nil
	}
	slices.SortFunc(found, func(a, b *Stored) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	names := make([]string, len(found))
	for i, s := range found {
		names[i] = fmt.Sprintf("%v at %v", s.ID, s.at())
	}
	return nil, secret.Errorf("%v may be that of %s: leave one out", config, strings.Join(names, " or "))
}

// Find returns the live object that config is about, and nil when there is none.
//
//  1. It has the group, the kind, the namespace and the name of config, in whatever version.
//  2. If there is none, and either config or the live object does not say its namespace, the other's counts. No namespace is
//     not the namespace called default: which one it stands for is up to who applies.
//
// It is an error if there are several.
func (l *Live) Find(config ID) (*Stored, error) {
	var exact, loose []*Stored
	for _, s := range l.named[config.nameID()] {
		switch {
		case s.ID == config:
			exact = append(exact, s)
		case s.Namespace == "" || config.Namespace == "":
			loose = append(loose, s)
		}
	}
	candidates := exact
	if len(candidates) == 0 {
		candidates = loose
	}
	switch len(candidates) {
	case 0:
		return nil, nil
	case 1:
		return candidates[0], nil
	}
	places := make([]string, len(candidates))
	for i, s := range candidates {
		places[i] = s.at().String()
		if len(exact) == 0 {
			places[i] = fmt.Sprintf("%v at %v", s.ID, s.at())
		}
	}
	if len(exact) > 0 {
		return nil, secret.Errorf("%v is stored %d times: at %s", config, len(places), strings.Join(places, " and at "))
	}
	return nil, secret.Errorf("%v may be %s: say its namespace", config, strings.Join(places, " or "))
}
