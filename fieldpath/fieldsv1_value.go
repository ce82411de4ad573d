package fieldpath

import (
	"slices"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// A document holds fieldsV1 as an object. Its members are sorted by name, which is not quite the
// order of elements. Fields f:… come first in both orders. In a document, indexes i:… come before
// keys k:… and values v:…, and the key of port 10 comes before that of port 9.
//
// An object that AppendJSON would write differently is printed, and parsed as text.

// fromValue is [ParseSet] for fieldsV1 that is part of a document already. canonical reports
// whether document would return an equal document.
func fromValue(fieldsV1 value.Value) (s Set, canonical bool, err error) {
	p := setParsers.Get().(*setParser)
	defer p.release()
	if fieldsV1.Kind() == value.KindObject && p.members(fieldsV1, 0) {
		work.Add(work.Counts{Sets: 1})
		return p.draft.set(replace, Set{}), true, nil
	}
	s, err = ParseSet(fieldsV1.AppendJSON(nil))
	return s, false, err
}

// members reads v, the object below an element or of a whole set. It reports whether document
// writes v in the same form.
func (p *setParser) members(v value.Value, depth int) bool {
	first, l := len(p.draft.nodes), level{last: -1}
	for i := range v.Len() {
		m := v.Member(i)
		if m.Value.Kind() != value.KindObject {
			return false
		}
		if m.Name == "." {
			if depth == 0 || m.Value.Len() > 0 || v.Len() == 1 {
				return false
			}
			continue
		}
		index := len(p.draft.nodes)
		if !p.member(m.Name) || m.Value.Len() > 0 && (depth == value.MaxDepth || !p.members(m.Value, depth+1)) {
			return false
		}
		p.complete(&l, index, !m.Value.Get(".").IsAbsent())
	}
	p.order(&l, first)
	return true
}

// complete ends the tree of the node at index, and makes that node the last of l. self says whether
// the content of the node has a ".", which makes the node itself a member.
func (p *setParser) complete(l *level, index int, self bool) {
	n := &p.draft.nodes[index]
	n.skip = uint32(len(p.draft.nodes) - index)
	n.setMember(self || n.skip == 1)
	p.follow(l, index)
}

// order records the nodes of l, which begin at first, as untidy if they are unsorted.
func (p *setParser) order(l *level, first int) {
	if l.unsorted {
		p.draft.untidyBelow(first)
	}
}

// member appends a node for the element with this name. It reports whether this is the only name of
// the element.
func (p *setParser) member(name string) bool {
	if len(name) >= 2 && name[:2] == "f:" {
		p.draft.add(KindField, name[2:], 0)
		return true
	}
	return p.canonicalElement(name)
}

// canonicalElement is member for elements of every kind.
func (p *setParser) canonicalElement(name string) bool {
	e, unknown, err := p.elements.element(name)
	if unknown || err != nil {
		return false
	}
	p.draft.add(e.kind, e.text, 0)
	p.wire = e.appendWire(p.wire[:0])
	return string(p.wire) == name
}

// document returns s as the document that [value.Parse] reads from the text that [Set.AppendJSON]
// writes.
func (s Set) document() value.Value {
	s = s.named()
	w := valueWriter{texts: s.texts, members: make([]value.Member, 0, len(s.nodes)+len(s.nodes)/2)}
	return w.object(s.nodes, false)
}

// valueWriter makes the objects of a document out of slabs.
type valueWriter struct {
	texts   texts // of the set
	names   slab.Text
	wire    []byte
	members []value.Member
}

// object returns the object of nodes. self says whether their parent is a member.
func (w *valueWriter) object(nodes []node, self bool) value.Value {
	count := width(nodes)
	if self = self && count > 0; self {
		count++
	}
	start := len(w.members)
	w.members = slices.Grow(w.members, count)[:start+count]
	out := w.members[start : start+count : start+count]
	i := 0
	if self {
		out[0] = value.Member{Name: ".", Value: value.Object()}
		i++
	}
	for rest := nodes; len(rest) > 0; rest = rest[rest[0].skip:] {
		w.wire = rest[0].element(&w.texts).appendWire(w.wire[:0])
		out[i] = value.Member{Name: w.names.Cut(w.wire), Value: w.object(rest[1:rest[0].skip], rest[0].has(included))}
		i++
	}
	return value.Object(out...)
}
