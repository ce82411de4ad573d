package fieldpath

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// Unstructured objects hold fieldsV1 as maps in maps. A map has no order and no text, so fromAny sorts
// the names of its members. Often the question is only whether a map is equal to one that was read
// before. matchesAny then looks up the names of the known set in the map, and makes no set.
//
// A map that AppendJSON would write differently is read as a document and its text. ParseSet is thus
// the only reader of unusual forms.

// fromAny is fromValue for fieldsV1 as unstructured objects hold it. canonical reports, as
// matchesAny does, whether toAny would return an equal map. The error is that of [value.FromAny] or
// of ParseSet.
func fromAny(fieldsV1 map[string]any) (s Set, canonical bool, err error) {
	p := setParsers.Get().(*setParser)
	defer p.release()
	self, ok := p.content(fieldsV1, 0)
	clear(p.maps[:cap(p.maps)]) // scratch must not keep the caller's maps alive
	if ok && !self && len(p.draft.text) <= maxText {
		work.Add(work.Counts{Sets: 1})
		return p.draft.set(replace, Set{}), true, nil
	}
	v, err := value.FromAny(fieldsV1)
	if err != nil {
		return Set{}, false, err
	}
	s, _, err = fromValue(v)
	return s, false, err
}

// content is members for maps. self reports a member named ".", for which the caller has the rules.
func (p *setParser) content(content map[string]any, depth int) (self, ok bool) {
	top, key, first, l := len(p.maps), len(p.keys), len(p.draft.nodes), level{last: -1}
	for name, below := range content {
		below, ok := below.(map[string]any)
		switch {
		case !ok:
			return false, false
		// An element and its content.
		case name != ".":
			p.maps = append(p.maps, mapMember{name, below})
		// toAny writes "." only as an empty map beside other members.
		case len(below) > 0 || len(content) == 1:
			return false, false
		default:
			self = true
		}
	}
	p.sorted(top)
	for i := key; i < len(p.keys); i++ {
		index, member := len(p.draft.nodes), &p.maps[p.keys[i].index]
		below := member.below
		if !p.namedMember(member.name) {
			return false, false
		}
		if len(below) == 0 {
			p.draft.nodes[index].set(included)
			p.follow(&l, index)
			continue
		}
		if depth == value.MaxDepth {
			return false, false
		}
		self, ok := p.content(below, depth+1)
		if !ok {
			return false, false
		}
		p.complete(&l, index, self)
	}
	p.maps, p.keys = p.maps[:top], p.keys[:key]
	p.order(&l, first)
	return self, true
}

// mapMember is a member of a map.
type mapMember struct {
	name  string
	below map[string]any
}

// sortKey stands for a member of a map. bytes has the eight bytes that distinguish most names, and
// index is the place of the member in maps. It holds no pointer, which would cost more to move.
type sortKey struct {
	bytes uint64
	index int
}

// maxInsertion is the largest map whose members are sorted by insertion.
const maxInsertion = 16

// sorted appends to p.keys the keys of the members from top on, sorted by their bytes, then by name.
// In most cases this is the order of the elements.
func (p *setParser) sorted(top int) {
	first := len(p.keys)
	for i := range p.maps[top:] {
		p.keys = append(p.keys, sortKey{eightBytes(p.maps[top+i].name), top + i})
	}
	keys := p.keys[first:]
	if len(keys) > maxInsertion {
		slices.SortFunc(keys, func(a, b sortKey) int {
			return cmp.Or(cmp.Compare(a.bytes, b.bytes), strings.Compare(p.maps[a.index].name, p.maps[b.index].name))
		})
		return
	}
	for i := 1; i < len(keys); i++ {
		key, j := keys[i], i
		for ; j > 0 && (key.bytes < keys[j-1].bytes ||
			key.bytes == keys[j-1].bytes && p.maps[key.index].name < p.maps[keys[j-1].index].name); j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = key
	}
}

// eightBytes returns the eight bytes of name after the kind and the colon, the first one highest.
// Missing bytes are 0.
func eightBytes(name string) uint64 {
	if len(name) >= len("f:")+8 {
		return bigEndian(name[len("f:"):])
	}
	n := uint64(0)
	for i := len("f:"); i < len(name); i++ {
		n |= uint64(name[i]) << (8 * uint(len("f:")+7-i))
	}
	return n
}

// namedMember is member that makes most nodes named. matchesAny then finds their names without making
// them.
func (p *setParser) namedMember(name string) bool {
	if len(name) < 2 || name[1] != ':' {
		return false
	}
	start := len(p.draft.text)
	kind := KindKey
	switch name[0] {
	case 'f':
		p.draft.addNamedField(name)
		return true
	case 'k':
	case 'v':
		kind = KindItem
	default:
		return p.canonicalElement(name)
	}
	p.draft.text = append(p.draft.text, name...)
	s, b, ok := scan(name, len("k:")), p.draft.reserve(), false
	if kind == KindKey {
		b, ok = s.plainKey(b, `"`)
	} else {
		b, ok = s.plainScalar(b, `"`)
	}
	if ok && s.Pos == len(name) {
		p.draft.addSpelled(kind, b, start, start+len(name), named)
		return true
	}
	p.draft.text = p.draft.text[:start]
	return p.canonicalElement(name)
}

// matchesAny reports whether fieldsV1 is equal to the map that toAny returns. If so, fromAny returns
// a set equal to s, but matchesAny is quicker. It is quickest for a set that fromAny returned.
func (s Set) matchesAny(fieldsV1 map[string]any) bool {
	m := anyMatcher{texts: s.texts}
	return m.object(s.nodes, false, fieldsV1)
}

// anyMatcher compares a set with maps.
type anyMatcher struct {
	texts   texts // of the set
	scratch []byte
}

// object reports whether content is the map of nodes. self says whether their parent is a member.
func (m *anyMatcher) object(nodes []node, self bool, content map[string]any) bool {
	left := len(content)
	if self {
		if dot, ok := content["."].(map[string]any); !ok || len(dot) > 0 {
			return false
		}
		left--
	}
	for ; len(nodes) > 0 && left > 0; left-- {
		n := &nodes[0]
		below, ok := content[n.name(&m.texts, &m.scratch)].(map[string]any)
		if !ok || n.skip == 1 && len(below) > 0 || n.skip > 1 && !m.object(nodes[1:n.skip], n.has(included), below) {
			return false
		}
		nodes = nodes[n.skip:]
	}
	return len(nodes) == 0 && left == 0
}

// toAny returns s as unstructured objects hold it, and about how many bytes of memory the map takes.
// The map and its content are new, but all empty maps in it are one map.
func (s Set) toAny() (content map[string]any, size int) {
	s = s.named()
	w := anyWriter{texts: s.texts, empty: map[string]any{}}
	content = w.object(s.nodes, false)
	return content, w.size
}

// anyWriter is valueWriter for maps.
type anyWriter struct {
	texts texts // of the set
	names slab.Text
	wire  []byte
	empty map[string]any
	size  int // of the maps and names made so far, in bytes
}

// object returns the map of nodes. self says whether their parent is a member.
func (w *anyWriter) object(nodes []node, self bool) map[string]any {
	if len(nodes) == 0 {
		return w.empty
	}
	members := 1 + width(nodes)
	out := make(map[string]any, members)
	w.size += mapSize(members)
	if self {
		out["."] = w.empty
	}
	for rest := nodes; len(rest) > 0; rest = rest[rest[0].skip:] {
		w.wire = rest[0].element(&w.texts).appendWire(w.wire[:0])
		w.size += 2 * len(w.wire) // up to half of an array of names may be unused
		out[w.names.Cut(w.wire)] = w.object(rest[1:rest[0].skip], rest[0].has(included))
	}
	return out
}

// mapSize returns about how many bytes a map made for this number of members takes. A map has room for
// eight members or a larger power of two, of which seven eighths may be used. Each place takes 33
// bytes.
func mapSize(members int) int {
	const fixed, member = 128, 33
	room := 8
	for room*7/8 < members && members > 8 {
		room *= 2
	}
	return fixed + room*member*9/8 // the allocator takes up to an eighth more
}
