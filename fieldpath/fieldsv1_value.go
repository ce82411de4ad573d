package fieldpath

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// FromValue is [ParseSet] for fieldsV1 that is part of a document already. It reports whether [Set.Value] would give an equal
// document.
func FromValue(fieldsV1 value.Value) (s Set, canonical bool, err error) {
	p := setParsers.Get().(*setParser)
	defer p.release()
	if fieldsV1.Kind() == value.KindObject && p.members(fieldsV1, 0) {
		return setOf(slices.Clone(p.nodes)), true, nil
	}
	s, err = ParseSet(fieldsV1.AppendJSON(nil))
	return s, false, err
}

// members reads what is below an element, or a whole set. It reports whether all of it is as Set.Value writes it.
func (p *setParser) members(v value.Value, depth int) bool {
	if depth == value.MaxDepth {
		return false
	}
	first, l := len(p.nodes), level{last: -1}
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
		index := len(p.nodes)
		if !p.member(m.Name) || m.Value.Len() > 0 && !p.members(m.Value, depth+1) {
			return false
		}
		n := &p.nodes[index]
		n.skip = uint32(len(p.nodes) - index)
		n.member = n.skip == 1 || !m.Value.Get(".").IsAbsent()
		p.follow(&l, index)
	}
	if l.unsorted {
		p.nodes = sortSiblings(p.nodes, first, replace)
	}
	return true
}

// member appends the node of the element that name names. It reports whether that is the only name of the element.
func (p *setParser) member(name string) bool {
	if len(name) >= 2 && name[:2] == "f:" {
		p.nodes = append(p.nodes, node{text: name[2:], kind: KindField})
		return true
	}
	e, unknown, err := p.elements.element(name)
	if unknown || err != nil {
		return false
	}
	p.nodes = append(p.nodes, node{text: e.text, kind: e.kind})
	p.wire = e.AppendWire(p.wire[:0])
	return string(p.wire) == name
}

// Value returns s as a document: what [value.Parse] reads from the text that [Set.AppendJSON] writes.
func (s Set) Value() value.Value {
	var w valueWriter
	w.members = make([]value.Member, 0, len(s.nodes)+len(s.nodes)/2)
	return w.object(s.nodes, false)
}

// valueWriter makes the objects of a document out of slabs.
type valueWriter struct {
	names   Maker
	wire    []byte
	members []value.Member
}

// object returns what is below an element that is a member or not.
func (w *valueWriter) object(nodes []node, self bool) value.Value {
	count := 0
	for rest := nodes; len(rest) > 0; rest = rest[rest[0].skip:] {
		count++
	}
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
		w.wire = rest[0].element().AppendWire(w.wire[:0])
		out[i] = value.Member{Name: w.names.cut(w.wire), Value: w.object(rest[1:rest[0].skip], rest[0].member)}
		i++
	}
	return value.Object(out...)
}
