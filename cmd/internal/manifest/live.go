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

// Live finds the stored object for a configuration. It keeps only those objects in memory that cannot be read again.
type Live struct {
	all   []*Stored
	named map[nameID][]*Stored
	kinds map[nameID]bool // the kinds of the objects, without names
	// Count is the number of objects.
	Count int
	// Complete reports whether all live objects could be read.
	Complete bool
	// Tracked reports whether the objects come with their managed fields, as those of a cluster do.
	Tracked bool
	// Unknown holds the objects that may be stored or not, because they could not be read, which is reported.
	Unknown map[ID]bool
	// Definitions holds the CustomResourceDefinitions among the objects.
	Definitions []*Object
}

// nameID is an ID without its namespace.
type nameID struct{ group, kind, name string }

func (id ID) nameID() nameID { return nameID{id.Group, id.Kind, id.Name} }

// Stored is the identity and the place of an object.
type Stored struct {
	ID
	object   *Object // nil if the object is read again on demand
	part     *part
	number   int // the number of the document
	several  bool
	fallback string // see Reader
}

// Index reads texts, and returns the places of their objects. It reports problems of the objects. For a text of 64 KiB or more it reports
// only problems that hide the identity of an object; reading the object later reports the others.
func (c *Loader) Index(texts []*Text, r Reader) *Live {
	before := c.Problems
	l := NewLive(nil)
	for found, objects := range c.chunks(texts, r, chunk.identify) {
		l.addChunk(r, found, objects)
	}
	l.Complete = c.Problems == before
	return l
}

// NewLive returns an index of objects.
func NewLive(objects []*Object) *Live {
	l := &Live{named: map[nameID][]*Stored{}, kinds: map[nameID]bool{}, Complete: true}
	for _, o := range objects {
		l.add(o, &Stored{ID: o.Id, object: o})
	}
	return l
}

// addChunk adds the objects of one chunk.
func (l *Live) addChunk(r Reader, found content, objects []*Object) {
	for i, id := range found.quick {
		l.add(nil, &Stored{ID: id, part: found.parts[i], number: found.number, several: found.several, fallback: r.Fallback})
	}
	in := map[*part]int{} // the number of objects in each part
	for _, o := range objects {
		in[o.Part]++
	}
	for _, o := range objects {
		s := &Stored{ID: o.Id, part: o.Part, number: o.Number, several: o.several, fallback: r.Fallback}
		if in[o.Part] > 1 || o.Part.data == nil || o.Part.Docs != nil {
			s.object = o // cannot be read apart from the others
		}
		l.add(o, s)
	}
}

// All yields the places of the objects, in order.
func (l *Live) All() iter.Seq[*Stored] { return slices.Values(l.all) }

// definitionKind is the kind of CustomResourceDefinitions.
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

// identify returns the content of k. If k is a part of a large text, identify uses only its lines if they are conclusive.
func (k chunk) identify() content {
	if len(k.text.Data) >= largeText && len(k.parts) == 1 {
		if id, ok := k.parts[0].quickID(); ok && id.Kind != definitionKind && !strings.HasSuffix(id.Kind, ListSuffix) {
			return content{quick: []ID{id}, parts: k.parts, number: k.number, several: k.several}
		}
	}
	return k.read()
}

// Read returns the object, or nil with all reasons reported if it cannot be read.
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

// FindAs is Find for a config that represents an object of another kind, one for which wanted returns true. The cost grows with the number
// of kinds.
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
	slices.SortStableFunc(found, func(a, b *Stored) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	names := make([]string, len(found))
	for i, s := range found {
		names[i] = fmt.Sprintf("%v at %v", s.ID, s.at())
	}
	return nil, secret.Errorf("%v may be that of %s: leave one out", config, strings.Join(names, " or "))
}

// Find returns the live object for config, or nil if there is none.
//
//  1. Its group, kind, namespace and name equal those of config, in any version.
//  2. Without such an object, if either config or the live object lacks its namespace, the namespace of the other counts. A missing
//     namespace does not mean the namespace called default, because the user of the configuration chooses it.
//
// It returns an error if several objects match.
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
