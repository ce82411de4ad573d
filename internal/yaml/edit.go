package yaml

import (
	"bytes"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
	"gopkg.in/yaml.v3"
)

// editor collects the edits that change the value of a document in its text. It works on lines: each entry of a block, a member or an item,
// begins on its own line and ends before the next entry.
//
// Its edits need not be right in all cases, because the caller parses the result and compares the value. If the editor knows that it cannot
// do an edit, it returns false, and the enclosing block is printed anew.
type editor struct {
	*layout
	from, to int // bounds of the document
	spans    []span
	pairs    int // number of comparisons of names

	// Position of each character in a line, for lines that offset has scanned; nil if all characters are single bytes.
	characters map[int][]int
}

// edit returns the text of the document after changing the root from old to new.
func (e *editor) edit(root *yaml.Node, old, new value.Value) ([]byte, bool) {
	last := e.lineAt(e.to)
	kept := e.content(root, old, new, last)
	work.Add(work.Counts{Pairs: e.pairs})
	if !kept {
		return nil, false
	}
	return e.splice(e.from, e.to, e.spans)
}

// lineAt returns the number of the line that begins at offset, or the number of lines.
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

// offset returns the position of n in the text. For an omitted value it is the end of the value's place. Columns count characters; each
// line is scanned once, for all of its nodes.
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

// characters returns the position of each character of line, and the end of the line. It returns nil if all characters are single bytes.
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

// content changes the value of the node n from old to new. The lines of n end before line end. It returns false if n must be printed anew
// as a whole.
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

// attempt works like content, but it drops its edits if it returns false.
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

// leaf replaces a scalar or flow in place if it is contiguous, so that the rest of the line stays.
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

// appendBlockLeaf returns the text, within a block, of a value that is not a block.
func appendBlockLeaf(v value.Value) []byte {
	p := printer{}
	p.leaf(v, 0)
	return p.b
}

// entry is a member or an item of a block.
type entry struct {
	key        *yaml.Node // nil for an item
	content    *yaml.Node
	start, end int  // lines, with the comments after the entry that belong to it
	first      bool // first of its block
}

// column returns the zero-based column of n.
func column(n *yaml.Node) int { return n.Column - 1 }

// contentEnd returns the line after the content of the entry that begins at line start. Empty lines up to end, and comments that are not
// indented beyond the block's column, are not content.
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

// leading returns the first of the comment lines directly above line start, at the column of the block.
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

// ownLine reports whether only space precedes offset in its line.
func (e *editor) ownLine(line, offset int) bool {
	from := max(e.starts[line], e.from)
	return len(bytes.TrimLeft(e.data[from:offset], " ")) == 0
}

// remove removes an entry with the comments above it. It keeps those above the first entry, which may be about the whole block.
func (e *editor) remove(x entry, column, after int) bool {
	if x.first && !e.ownLine(x.start, e.starts[x.start]+column) {
		return false // its line begins with another entry
	}
	start := x.start
	if !x.first {
		start = e.leading(start, column, after)
	}
	e.replace(max(e.starts[start], e.from), e.starts[x.end], nil)
	return true
}

// insert inserts text, printed entries with a line end, after the entry x.
func (e *editor) insert(x entry, text []byte, column int) {
	at := e.starts[x.end]
	e.replace(at, at, append(bytes.Repeat([]byte(" "), column), text...))
}

// insertBefore inserts text before x, the first entry.
func (e *editor) insertBefore(x entry, text []byte, column int) {
	at, indent := e.starts[x.start], bytes.Repeat([]byte(" "), column)
	if e.ownLine(x.start, at+column) {
		e.replace(at, at, append(indent, text...))
		return
	}
	e.replace(at+column, at+column, append(text, indent...))
}
