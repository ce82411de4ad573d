package value

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/deed-project/deed/internal/jsontext"
)

// Reading a text, compared with the text before. Two versions of an object mostly differ in a few
// bytes. The bytes before and after the difference are the same, so the containers there are the
// same values. The parser records the containers of a text as marks.
//
// The parser skips a container of the text before, whatever its size. Cost of a text: comparing it
// with the text before, and reading the differences and the containers around them.
//
// Invariants of the marks of a text:
//
//	marks are ascending by start, and nested: the end of one is not in the middle of another
//	depth < markDepth, end-start >= minMarked(text), and there are at most maxMarks, the first ones

// mark records the place and the value of a container in a text.
type mark struct {
	value          Value
	start, end     uint32
	depth, matched uint8 // of the parser, before the container
}

// The limits of the depth and the number of marked containers.
const (
	markDepth = 6
	maxMarks  = 512
)

// minMarked returns the minimal length of a marked container: marking a shorter one costs as much
// as reading it again. With a quarter of these lengths, the next version of a node took 7 % more
// memory and saved 1 % of the instructions. For a pod, it took 3 % more memory and saved none.
func minMarked(text string) uint32 { return uint32(min(len(text)/64, 256)) }

// marksHere reports whether p marks a container at its position, and looks it up among the marks of
// the text before.
func (p *parser) marksHere() bool { return p.Depth < markDepth && p.marking }

// mark adds a mark for the container at pos. It returns the index of the mark, or -1 if there are
// maxMarks already.
func (p *parser) mark() int {
	if len(p.marks) == maxMarks {
		return -1
	}
	p.marks = append(p.marks, mark{start: uint32(p.Pos), depth: uint8(p.Depth), matched: uint8(p.matched)})
	return len(p.marks) - 1
}

// marked returns the container at pos. It reads the container unless the text before has it.
func (p *parser) marked() (v Value, err *jsontext.Error) {
	i := p.mark()
	if known := p.seen.at(p); known != nil {
		p.Pos += int(known.end - known.start)
		p.shared++
		v = known.value
	} else if v, err = p.container(p.Text[p.Pos]); err != nil {
		return Value{}, err
	}
	if i < 0 {
		return v, nil
	}
	m := &p.marks[i]
	if m.end, m.value = uint32(p.Pos), v; m.end-m.start < minMarked(p.Text) {
		p.marks = p.marks[:i] // inner containers are shorter, so they have no marks
	}
	return v, nil
}

// likeness describes the common prefix and suffix of two texts. The parser reads the second text:
//
//	first   ├── prefix ──┤ 1 ├──── suffix ────┤
//	second  ├── prefix ──┤ 1000 ├──── suffix ────┤
//
// The prefix and the suffix overlap if one text only repeats a part, as [1,2] and [1,2,2].
type likeness struct {
	marks  []mark // of the first text, by their start
	prefix int    // length of the common prefix
	suffix int    // offset of the common suffix in the second text
	shift  int    // suffix minus the offset of the suffix in the first text
}

// newLikeness compares first, whose containers are marks, with second. Cost: one comparison from
// each end.
func newLikeness(marks []mark, first, second []byte) likeness {
	n := commonEnd(first, second)
	return likeness{marks, commonStart(first, second), len(second) - n, len(second) - len(first)}
}

// at returns the mark in the first text for the container at p's position in the second text. It
// returns nil if the first text has no equal container there. A container that begins in the suffix
// also ends in it.
func (l *likeness) at(p *parser) *mark {
	if len(l.marks) == 0 {
		return nil
	}
	start, suffix := p.Pos, p.Pos >= l.suffix
	if suffix {
		start -= l.shift
	}
	i, ok := slices.BinarySearchFunc(l.marks, start, func(m mark, start int) int {
		return cmp.Compare(int(m.start), start)
	})
	if !ok {
		return nil
	}
	m := &l.marks[i]
	if !suffix && int(m.end) > l.prefix || int(m.depth) != p.Depth || int(m.matched) != p.matched {
		return nil
	}
	return m
}

// block is the number of bytes that are compared at once.
const block = 64

// commonStart returns the length of the common prefix of both texts.
func commonStart(a, b []byte) int {
	i, n := 0, min(len(a), len(b))
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonEnd returns the length of the common suffix of both texts.
func commonEnd(a, b []byte) int {
	i, n := 0, min(len(a), len(b))
	for i+block <= n && bytes.Equal(a[len(a)-i-block:len(a)-i], b[len(b)-i-block:len(b)-i]) {
		i += block
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
