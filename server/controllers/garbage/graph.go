package garbage

import (
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// The graph of objects and their owners, by UID:
//
//	vertex web (seen)  <--- vertex web-1 (seen)   names web by its UID
//	                   <--- vertex web-2 (seen)
//	vertex 4711 (unseen) <--- vertex lost (seen)  no object with UID 4711 is stored, or not yet
//
// Invariant: a vertex exists exactly as long as its object is stored or another vertex names it as an owner. The dependents of a vertex are
// exactly the seen vertices that name its UID. Events are the exception: see [Collector.keepEvent].

// The finalizers that tell the collector what a deletion means.
const (
	orphanFinalizer     = "orphan"
	foregroundFinalizer = "foregroundDeletion"
)

// identity says what an object is, as references of its dependents must name it.
type identity struct {
	apiVersion, kind, namespace, name string
}

// reference is an owner reference.
type reference struct {
	apiVersion, kind, name, uid string
	blocks                      bool // blockOwnerDeletion
}

// String returns the reference of an object in a namespace as events show it.
func (r reference) String(namespace string) string {
	return "[" + r.apiVersion + "/" + r.kind + ", namespace: " + namespace + ", name: " + r.name + ", uid: " + r.uid + "]"
}

// names reports whether r has the coordinates of an owner. Versions of one kind count as equal.
func (r reference) names(owner identity) bool {
	return r.name == owner.name && r.kind == owner.kind &&
		schema.ParseGVK(r.apiVersion, r.kind).Group == schema.ParseGVK(owner.apiVersion, owner.kind).Group
}

// object is what the collector knows of a stored object.
type object struct {
	identity
	uid        string
	owners     []reference
	deleting   bool // it has a deletion timestamp
	orphans    bool // it has the finalizer orphan
	foreground bool // it has the finalizer foregroundDeletion
}

// waits reports whether the object is deleted in the foreground: its dependents go first.
func (o *object) waits() bool { return o.deleting && o.foreground }

// parse returns what the text of a stored object says. The UID is empty for texts that are no objects.
//
// It copies the strings, which would otherwise keep the whole text in memory. Texts as servers write them need no document; see scan.
func parse(text []byte) (object, error) {
	if o, ok := scan(text); ok {
		return o, nil
	}
	parsed, err := managedfields.ParseObject(text)
	if err != nil {
		return object{}, err
	}
	return objectOf(parsed.Content), nil
}

// scan is parse in one pass over the text. It returns false for a text that it cannot read, such as one with escapes in a name.
func scan(text []byte) (o object, ok bool) {
	s := jsontext.Skim(text)
	ok = s.Members(func(start, end int) bool {
		switch s.Text[start+1 : end-1] {
		case "apiVersion":
			return take(&s, &o.apiVersion)
		case "kind":
			return take(&s, &o.kind)
		case "metadata":
			return o.scanMetadata(&s)
		}
		return s.Skip() == nil
	})
	return o, ok && s.End() == nil
}

// scanMetadata reads the metadata at the position of s.
func (o *object) scanMetadata(s *jsontext.Scanner) bool {
	return s.Members(func(start, end int) bool {
		switch s.Text[start+1 : end-1] {
		case "namespace":
			return take(s, &o.namespace)
		case "name":
			return take(s, &o.name)
		case "uid":
			return take(s, &o.uid)
		case "deletionTimestamp":
			o.deleting = true
		case "finalizers":
			return s.Items(func() bool {
				var name string
				ok := take(s, &name)
				o.orphans = o.orphans || name == orphanFinalizer
				o.foreground = o.foreground || name == foregroundFinalizer
				return ok
			})
		case "ownerReferences":
			return s.Items(func() bool {
				r, ok := scanReference(s)
				o.owners = append(o.owners, r)
				return ok
			})
		}
		return s.Skip() == nil
	})
}

// scanReference reads the owner reference at the position of s.
func scanReference(s *jsontext.Scanner) (r reference, ok bool) {
	ok = s.Members(func(start, end int) bool {
		switch s.Text[start+1 : end-1] {
		case "apiVersion":
			return take(s, &r.apiVersion)
		case "kind":
			return take(s, &r.kind)
		case "name":
			return take(s, &r.name)
		case "uid":
			return take(s, &r.uid)
		case "blockOwnerDeletion":
			r.blocks = s.Pass("true")
			return r.blocks || s.Skip() == nil
		}
		return s.Skip() == nil
	})
	return r, ok
}

// take sets target to a copy of the string at the position of s. It returns false for other values, and for strings with escapes.
func take(s *jsontext.Scanner, target *string) bool {
	if s.Peek() != '"' {
		return false
	}
	text, ok := s.PlainString()
	*target = strings.Clone(text)
	return ok
}

// objectOf is parse of a document. It copies the strings, too.
func objectOf(content value.Value) object {
	metadata := content.Get("metadata")
	member := func(v value.Value, name string) string { return strings.Clone(v.Get(name).Str()) }
	o := object{
		identity: identity{member(content, "apiVersion"), member(content, "kind"), member(metadata, "namespace"), member(metadata, "name")},
		uid:      member(metadata, "uid"),
		deleting: !metadata.Get("deletionTimestamp").IsAbsent(),
	}
	for f := range metadata.Get("finalizers").Items() {
		o.orphans = o.orphans || f.Str() == orphanFinalizer
		o.foreground = o.foreground || f.Str() == foregroundFinalizer
	}
	for r := range metadata.Get("ownerReferences").Items() {
		o.owners = append(o.owners, reference{
			member(r, "apiVersion"), member(r, "kind"), member(r, "name"), member(r, "uid"), r.Get("blockOwnerDeletion").Bool(),
		})
	}
	return o
}

// vertex is an object of the graph. Its UID does not change; the mutex of the graph guards the rest.
type vertex struct {
	uid string
	object
	key        string // in the store; empty for an unseen vertex
	dependents map[*vertex]struct{}
}

// seen reports whether the object of the vertex is stored, as far as the graph knows.
func (v *vertex) seen() bool { return v.key != "" }

// graph is the graph. It is safe for concurrent use.
type graph struct {
	mu       sync.Mutex
	vertices map[string]*vertex // by UID
	keys     map[string]*vertex // by key: the seen ones
}

// outcome is what a change of the graph asks for.
type outcome struct {
	examine []*vertex
	foreign []foreign
}

// foreign is an object that names an owner in another namespace.
type foreign struct {
	dependent object
	owner     reference
}

// put takes over a stored object.
//
// It asks to examine the object if one of these holds:
//
//	it waits for its dependents, or for their being orphaned
//	it has a new owner that is unseen, waits for its dependents, or has other coordinates
//
// Dependents that named an unseen owner otherwise than it is now seen are examined, too.
func (g *graph) put(key string, o object) (out outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.keys[key]
	if v != nil && v.uid != o.uid { // a successor with the same name
		out = g.remove(v)
		v = nil
	}
	isNew := v == nil
	if isNew {
		if v = g.vertex(o.uid); v.key != "" { // an object that moved to another key: a resource changed its prefix
			delete(g.keys, v.key)
		}
		v.key, g.keys[key] = key, v
	}
	had := v.object
	v.object = o
	if isNew || !slices.Equal(had.owners, o.owners) {
		g.relink(v, had.owners, &out)
	}
	if o.deleting && (o.orphans || o.foreground) {
		out.examine = append(out.examine, v)
	}
	if isNew {
		g.meet(v, &out)
	}
	return out
}

// meet compares a vertex that is seen for the first time with what its dependents say of it.
func (g *graph) meet(v *vertex, out *outcome) {
	for d := range v.dependents {
		if i := slices.IndexFunc(d.owners, func(r reference) bool { return r.uid == v.uid }); v.isForeign(d) {
			out.foreign = append(out.foreign, foreign{d.object, d.owners[i]})
		}
		if slices.ContainsFunc(d.owners, func(r reference) bool { return d.doubts(v, r) }) {
			out.examine = append(out.examine, d)
		}
	}
}

// relink makes v a dependent of its owners, and no longer of those that it had.
//
// An owner that waits for its dependents is examined if v stopped blocking it. Of the new owners, the first that is seen and not as v names
// it counts: it is reported if it is in another namespace. An owner that v had already is not compared again, as in kube-controller-manager.
func (g *graph) relink(v *vertex, had []reference, out *outcome) {
	for _, r := range had {
		g.unlink(v, r.uid, out)
	}
	isFirst := true
	for _, r := range v.owners {
		owner := g.vertex(r.uid)
		if owner.dependents == nil {
			owner.dependents = map[*vertex]struct{}{}
		}
		owner.dependents[v] = struct{}{}
		if slices.ContainsFunc(had, func(h reference) bool { return h.uid == r.uid }) {
			continue
		}
		if isFirst && owner.isForeign(v) {
			out.foreign = append(out.foreign, foreign{v.object, r})
		}
		isFirst = isFirst && (!owner.seen() || r.names(owner.identity) && !owner.isForeign(v))
		if v.doubts(owner, r) {
			out.examine = append(out.examine, v)
		}
	}
}

// isForeign reports whether an owner is seen in another namespace than its dependent.
func (v *vertex) isForeign(dependent *vertex) bool {
	return v.seen() && v.namespace != "" && v.namespace != dependent.namespace
}

// doubts reports whether v is to be examined because of a reference: unless the owner is as the reference names it, and stays.
func (v *vertex) doubts(owner *vertex, r reference) bool {
	return r.uid == owner.uid && (owner.isForeign(v) || !owner.seen() || owner.waits() || !r.names(owner.identity))
}

// unlink removes v from the dependents of an owner, which is examined if it waits for them.
func (g *graph) unlink(v *vertex, owner string, out *outcome) {
	of := g.vertices[owner]
	if of == nil {
		return
	}
	delete(of.dependents, v)
	if of.waits() {
		out.examine = append(out.examine, of)
	}
	g.drop(of)
}

// vertex returns the vertex with a UID, and makes one that is unseen if there is none.
func (g *graph) vertex(uid string) *vertex {
	v := g.vertices[uid]
	if v == nil {
		v = &vertex{uid: uid}
		g.vertices[uid] = v
	}
	return v
}

// drop forgets a vertex that nothing keeps.
func (g *graph) drop(v *vertex) {
	if !v.seen() && len(v.dependents) == 0 {
		delete(g.vertices, v.uid)
	}
}

// delete forgets the object with a key. Its dependents are examined, and its owners if they wait for it.
func (g *graph) delete(key string) outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.keys[key]
	if v == nil {
		return outcome{}
	}
	return g.remove(v)
}

// remove is delete for a vertex. The identity stays with the vertex as long as it has dependents: see [graph.isGone].
func (g *graph) remove(v *vertex) (out outcome) {
	delete(g.keys, v.key)
	v.key, v.deleting = "", false
	for _, r := range v.owners {
		g.unlink(v, r.uid, &out)
	}
	v.owners = nil
	for d := range v.dependents {
		out.examine = append(out.examine, d)
	}
	g.drop(v)
	return out
}

// isGone reports whether the graph has seen how the owner that r names was removed. namespace is that of the dependent.
func (g *graph) isGone(r reference, namespace string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.vertices[r.uid]
	return v != nil && !v.seen() && v.kind != "" && r.names(v.identity) && (v.namespace == "" || v.namespace == namespace)
}

// where returns the key of a vertex, empty if its object is not stored.
func (g *graph) where(v *vertex) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return v.key
}

// dependent is a dependent of an object at a moment.
type dependent struct {
	*vertex
	key      string
	blocks   bool // it keeps its owner from being removed in the foreground
	deleting bool
	waits    bool // it waits for its own dependents
}

// dependentsOf returns the dependents of v.
func (g *graph) dependentsOf(v *vertex) []dependent {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]dependent, 0, len(v.dependents))
	for d := range v.dependents {
		blocks := slices.ContainsFunc(d.owners, func(r reference) bool { return r.uid == v.uid && r.blocks })
		out = append(out, dependent{d, d.key, blocks, d.deleting, d.waits()})
	}
	return out
}

// keep forgets the objects that are not stored, by their keys.
func (g *graph) keep(isStored func(key string) bool) (out outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, v := range g.keys {
		if !isStored(key) {
			more := g.remove(v)
			out.examine = append(out.examine, more.examine...)
		}
	}
	return out
}
