package fieldpath

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/work"
)

// This file reads fieldsV1 in the form that [Set.AppendJSON] writes. Nearly every stored text has that
// form: no white space, sorted elements, one spelling for each. One loop reads it, without recursion:
//
//	{"f:spec":{".":{},"f:ports":{"k:{\"port\":80}":{"f:name":{}}}},"f:status":{}}
//	 open              open       open              leaf      └┴┴ close
//
// The loop gives up at the first byte that AppendJSON writes differently, and at rare forms. Then
// setParser.document reads the text from its beginning. It alone reads other forms and finds errors.
//
// With document alone, reading new texts in turn would take 1.7 to 2.4 times as long.

// openNode is a node whose children are being read.
//
// Invariant: its children up to last are strictly ascending.
type openNode struct {
	index int    // of the node; -1 for the whole set
	last  int    // index of its last child, if it has one
	order uint32 // of that child; 0 if there is none
}

// maxOpen limits how many nodes are open at once in a text that written reads.
const maxOpen = 40

// written reads a text that [Set.AppendJSON] wrote. It returns false if the text has another form or a
// rare form. It also returns false if the text is so long that its set might have more than 1 GiB of
// texts. The set shares no memory with text.
func (p *setParser) written(text string) (Set, bool) {
	if len(text) > maxText/4 || !strings.HasPrefix(text, `{"`) {
		return Set{}, false
	}
	p.scanner = scan(text, 0)
	var open [maxOpen]openNode
	open[0] = openNode{index: -1}
	top, pos, nodes := 0, len(`{`), p.draft.nodes
	for {
		// An element. At least its name, its braces and the last brace of the set must follow.
		if len(text)-pos < len(`"f:":{}}`) {
			return Set{}, false
		}
		leaf := included
		if text[pos] == '"' && text[pos+1] == 'f' && text[pos+2] == ':' {
			start := pos + len(`"f:`)
			pos = jsontext.PlainEnd(text, start)
			nodes = append(nodes, node{uint32(start), uint32(pos - start), 1, bitsOf(KindField, text[start:pos], quoted)})
			leaf = included | lone
		} else if n, ok := p.writtenElement(pos); ok {
			nodes = append(nodes, n)
			pos = p.Pos
		} else {
			return Set{}, false
		}
		if len(text)-pos < len(`":{}}`) || text[pos] != '"' || text[pos+1] != ':' || text[pos+2] != '{' {
			return Set{}, false
		}
		pos += len(`":{`)
		index, parent := len(nodes)-1, &open[top]
		order := nodes[index].order()
		if order <= parent.order && !p.ascends(&nodes[parent.last], &nodes[index]) {
			return Set{}, false
		}
		parent.last, parent.order = index, order
		// The element has children.
		if text[pos] != '}' {
			if top++; top == maxOpen {
				return Set{}, false
			}
			open[top] = openNode{index: index}
			if strings.HasPrefix(text[pos:], `".":{},`) {
				nodes[index].set(included)
				pos += len(`".":{},`)
			}
			continue
		}
		// The element is a leaf. Its ancestors may end with it.
		nodes[index].set(leaf)
		for pos++; text[pos] == '}'; top-- {
			pos++
			switch {
			case pos == len(text) && top == 0:
				return p.writtenSet(nodes), true
			case pos == len(text) || top == 0:
				return Set{}, false
			}
			n := &nodes[open[top].index]
			n.skip = uint32(len(nodes) - open[top].index)
		}
		if text[pos] != ',' {
			return Set{}, false
		}
		pos++
	}
}

// writtenElement reads the key or item whose name begins at pos, up to the closing quote. It appends
// the encoding to p.wire.
func (p *setParser) writtenElement(pos int) (n node, ok bool) {
	p.Pos = pos
	kind, b := KindItem, append(p.wire, make([]byte, spellingSize)...)
	at := len(b)
	switch {
	case p.Pass(`"k:`):
		kind = KindKey
		b, ok = p.plainKey(b, `\"`)
	case p.Pass(`"v:`):
		b, ok = p.plainScalar(b, `\"`)
	}
	if !ok || p.Peek() != '"' {
		return node{}, false
	}
	binary.LittleEndian.PutUint32(b[at-8:], uint32(pos))
	binary.LittleEndian.PutUint32(b[at-4:], uint32(p.Pos+1))
	p.wire = b
	bits := bitsOf(kind, jsontext.Lend(b[at:]), quoted)
	return node{uint32(len(p.Text) + at), uint32(len(b) - at), 1, bits}, true
}

// ascends reports whether the element of a sorts before that of b.
func (p *setParser) ascends(a, b *node) bool {
	if a.order() != b.order() {
		return a.order() < b.order()
	}
	return p.writtenText(a) < p.writtenText(b)
}

// writtenText returns the text of the element of n. It is valid until p.wire changes.
func (p *setParser) writtenText(n *node) string {
	if at := int(n.at); at < len(p.Text) {
		return p.Text[at:][:n.len]
	}
	return jsontext.Lend(p.wire[int(n.at)-len(p.Text):][:n.len])
}

// writtenSet returns the set of nodes. Its text is a copy of p.Text, followed by p.wire.
func (p *setParser) writtenSet(nodes []node) Set {
	p.draft.nodes = nodes[:0]
	p.room.Grow(len(p.Text) + len(p.wire))
	p.room.WriteString(p.Text)
	p.room.Write(p.wire)
	work.Add(work.Counts{Sets: 1, Elements: len(nodes)})
	return Set{textOf(p.room.String()), slices.Clone(nodes)}
}
