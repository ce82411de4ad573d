package yaml

import (
	"bytes"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// editor collects the edits that make one value of another in the text of a document. It works on lines: the entries of a
// block, members or items, each begin in a line of their own and end in front of the next one.
//
// It need not be right in all cases, because what it makes is parsed and compared with what is wanted. Where it knows that it
// cannot do an edit, it says false, and the block around is printed anew.
type editor struct {
	*layout
	from, to int // of the document
	spans    []span
	pairs    int // of names that were compared

	// Of the lines that were asked about: where each of their characters begins in the line; nil if all are of one byte.
	characters map[int][]int
}

// edit returns the text of the document with the root, whose value is old, made new.
func (e *editor) edit(root *yaml.Node, old, new value.Value) ([]byte, bool) {
	last := e.lineAt(e.to)
	kept := e.content(root, old, new, last)
	work.Add(work.Counts{Pairs: e.pairs})
	if !kept {
		return nil, false
	}
	return e.splice(e.from, e.to, e.spans)
}

// lineAt returns the number of the line that begins at offset, or of the one behind the last.
func (e *editor) lineAt(offset int) int {
	low, high := 0, len(e.starts)-1
	for low < high {
		if middle := (low + high) / 2; e.starts[middle] < offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// offset returns the place of n in the text, which is its end for a value that is left out there. Columns count characters. Of a
// line, each byte is looked at once, however many nodes are in it.
func (e *editor) offset(n *yaml.Node) int {
	line := n.Line - 1
	if line == e.lines() {
		return len(e.data)
	}
	starts, known := e.characters[line]
	if !known {
		if e.characters == nil {
			e.characters = map[int][]int{}
		}
		starts = characters(e.line(line))
		e.characters[line] = starts
	}
	if starts == nil {
		return min(e.starts[line]+column(n), len(e.data))
	}
	return e.starts[line] + starts[min(column(n), len(starts)-1)]
}

// characters returns where each character of line begins, and behind the last one, where the line ends; nil if all of them are
// of one byte.
func characters(line []byte) []int {
	count := utf8.RuneCount(line)
	if count == len(line) {
		return nil
	}
	starts := make([]int, 0, count+1)
	for at := range string(line) {
		starts = append(starts, at)
	}
	return append(starts, len(line))
}

// content makes new of the node n, whose value is old. The lines of n end in front of line end. It says false when n has to
// be printed anew as a whole.
func (e *editor) content(n *yaml.Node, old, new value.Value, end int) bool {
	switch {
	case old.Equal(new):
		return true
	case n.Anchor != "" || n.Tag != "" && n.Style&yaml.TaggedStyle != 0:
		return false
	case n.Style&yaml.FlowStyle != 0 && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode):
		return e.flow(n, old, new, true)
	case n.Kind == yaml.MappingNode && new.Kind() == value.KindObject && new.Len() > 0:
		return e.object(n, old, new, end)
	case n.Kind == yaml.SequenceNode && new.Kind() == value.KindList && new.Len() > 0:
		return e.list(n, old, new, end)
	}
	return e.leaf(n, new, appendBlockLeaf)
}

// attempt is content that leaves no edits behind when it says false.
func (e *editor) attempt(n *yaml.Node, old, new value.Value, end int) bool {
	before := len(e.spans)
	if e.content(n, old, new, end) {
		return true
	}
	e.spans = e.spans[:before]
	return false
}

func (e *editor) replace(from, to int, text []byte) {
	e.spans = append(e.spans, span{from, to, e.withBreaks(text)})
}

// leaf replaces a scalar or flow in place, if both are in one piece, so that what follows in the line stays.
func (e *editor) leaf(n *yaml.Node, new value.Value, render func(value.Value) []byte) bool {
	from := e.offset(n)
	to, ok := e.endOf(n, from)
	if !ok || isBlock(new) {
		return false
	}
	text := render(new)
	if bytes.IndexByte(text, '\n') >= 0 {
		return false
	}
	e.replace(from, to, text)
	return true
}

// appendBlockLeaf returns a value that is no block as it stands in a block.
func appendBlockLeaf(v value.Value) []byte {
	p := printer{}
	p.leaf(v, 0)
	return p.b
}

// entry is one member or item of a block.
type entry struct {
	key        *yaml.Node // of a member
	content    *yaml.Node
	start, end int  // lines, with the comments behind the entry that belong to it
	first      bool // of its block
}

// column returns the column of n, counted from 0.
func column(n *yaml.Node) int { return n.Column - 1 }

// contentEnd returns the line behind the last one of the entry that begins in line start: what follows up to end is empty, or
// comments that are not indented behind the column of the block.
func (e *editor) contentEnd(start, end, column int) int {
	for end > start+1 {
		line := bytes.TrimRight(e.line(end-1), " \t\r\n")
		text := bytes.TrimLeft(line, " ")
		if len(text) > 0 && (text[0] != '#' || len(line)-len(text) > column) {
			break
		}
		end--
	}
	return end
}

// leading returns the first line of the comments that stand right above line start, at the column of the block.
func (e *editor) leading(start, column, after int) int {
	for start > after {
		line := e.line(start - 1)
		text := bytes.TrimLeft(line, " ")
		if len(text) == 0 || text[0] != '#' || len(line)-len(text) != column {
			break
		}
		start--
	}
	return start
}

// ownLine reports whether there is nothing but space in front of offset in its line.
func (e *editor) ownLine(line, offset int) bool {
	from := max(e.starts[line], e.from)
	return len(bytes.TrimLeft(e.data[from:offset], " ")) == 0
}

// remove removes an entry with the comments above it. The first entry keeps those, which may be about all.
func (e *editor) remove(x entry, column, after int) bool {
	if x.first && !e.ownLine(x.start, e.starts[x.start]+column) {
		return false // something else begins in its line
	}
	start := x.start
	if !x.first {
		start = e.leading(start, column, after)
	}
	e.replace(max(e.starts[start], e.from), e.starts[x.end], nil)
	return true
}

// insert puts text, printed entries with a line end, behind the entry x.
func (e *editor) insert(x entry, text []byte, column int) {
	at := e.starts[x.end]
	e.replace(at, at, append(bytes.Repeat([]byte(" "), column), text...))
}

// insertBefore puts text in front of x, the first entry.
func (e *editor) insertBefore(x entry, text []byte, column int) {
	at, indent := e.starts[x.start], bytes.Repeat([]byte(" "), column)
	if e.ownLine(x.start, at+column) {
		e.replace(at, at, append(indent, text...))
		return
	}
	e.replace(at+column, at+column, append(text, indent...))
}
