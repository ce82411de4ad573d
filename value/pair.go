package value

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/deed-project/deed/internal/jsontext"
)

// Reading a text after another one. Two versions of an object differ in a few bytes as a rule: what
// is in front of these and what is behind them is the same text, so containers that lie there are
// the same values. Which text has which containers where is kept as marks.
//
// A container that is known is passed over, whatever its size: the cost of a text is that of
// comparing it with the one before, and of reading what differs with the containers around it.
//
// Invariants of the marks of a text:
//
//	marks are ascending by start, and nested: the end of one is not in the middle of another
//	depth < markDepth, end-start >= minMarked(text), and there are at most maxMarks, the first ones

// mark is where a text has a container, and what that is.
type mark struct {
	value          Value
	start, end     uint32
	depth, matched uint8 // of the parser, in front of it
}

// How deep containers are that are marked, and how many at the most.
const (
	markDepth = 6
	maxMarks  = 512
)

// minMarked returns how much text a container has at least that is marked: to read less of a long
// text again costs no more than to remember it. With a quarter of these lengths, reading a node
// after another one took 7 % more memory to spare 1 % of the instructions, and reading a pod 3 %
// more to spare none.
func minMarked(text string) uint32 { return uint32(min(len(text)/64, 256)) }

// marksHere reports whether containers where p stands are marked, or may be known by their marks.
func (p *parser) marksHere() bool { return p.Depth < markDepth && p.marking }

// mark notes that a container begins at pos. It returns the number of its mark, and -1 if there is
// none.
func (p *parser) mark() int {
	if len(p.marks) == maxMarks {
		return -1
	}
	p.marks = append(p.marks, mark{start: uint32(p.Pos), depth: uint8(p.Depth), matched: uint8(p.matched)})
	return len(p.marks) - 1
}

// marked reads the container at pos, unless it is one that is known.
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
		p.marks = p.marks[:i] // what is inside is as small, and not marked any more
	}
	return v, nil
}

// likeness is what two texts have in common, of which the second is being read:
//
//	first   ├── prefix ──┤ 1 ├──── suffix ────┤
//	second  ├── prefix ──┤ 1000 ├──── suffix ────┤
//
// The two parts overlap if the texts differ by nothing but a repetition, as [1,2] and [1,2,2] do.
type likeness struct {
	marks  []mark // of the first text, by their start
	prefix int    // how many bytes both begin with
	suffix int    // where in the second text begins what both end with
	shift  int    // how much farther that is from the start than in the first text
}

// newLikeness returns what first, whose containers are marks, and second have in common. It costs
// one comparison from each end.
func newLikeness(marks []mark, first, second []byte) likeness {
	n := commonEnd(first, second)
	return likeness{marks, commonStart(first, second), len(second) - n, len(second) - len(first)}
}

// at returns the mark of the container that the parser, which reads the second text, stands in
// front of, and nil if the first text has none there, or has it otherwise. A container that begins
// in the suffix ends in it, since both texts do.
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

// block is how many bytes are compared at once.
const block = 64

// commonStart returns how many bytes both texts begin with.
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

// commonEnd returns how many bytes both texts end with.
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
