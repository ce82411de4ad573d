package value

import (
	"bytes"
	"cmp"
	"slices"
)

// ParsePair is [ParseKeeping] for two texts of which the second is expected to be much like the first, as a new object is like the
// stored one that it replaces. A list or object of the second text that begins in what both texts begin with, and ends there, or
// that lies in what both end with, is not read again: it is the first document's own, see [Value.Same]. Otherwise the outcome is
// that of reading each text by itself.
//
// The error is a [*SyntaxError] of the first text if first is absent, and else of the second.
func ParsePair(firstText, secondText []byte, path ...string) (first, second Value, err error) {
	p := parsers.Get().(*parser)
	defer p.release()
	p.text, p.keep, p.marking = firstText, path, true
	first, failure := p.document()
	if failure != nil {
		return Value{}, Value{}, failure.located()
	}
	p.restart(secondText)
	p.marking = false
	p.seen = newLikeness(p.marks, firstText, secondText)
	if second, failure = p.document(); failure != nil {
		return first, Value{}, failure.located()
	}
	return first, second, nil
}

// mark is where the first text of a pair has a container, and what that is.
type mark struct {
	start, end     int
	depth, matched int // of the parser, in front of it
	value          Value
}

// How deep containers are that are marked, and how many at the most.
const (
	markDepth = 6
	maxMarks  = 512
)

// pairs reports whether p reads one of a pair of texts, at a depth where containers are marked.
func (p *parser) pairs() bool { return p.depth < markDepth && (p.marking || len(p.seen.marks) > 0) }

// mark notes that a container begins at pos. It returns the number of its mark, and -1 if there is none.
func (p *parser) mark() int {
	if !p.marking || len(p.marks) == maxMarks {
		return -1
	}
	p.marks = append(p.marks, mark{start: p.pos, depth: p.depth, matched: p.matched})
	return len(p.marks) - 1
}

// marked reads the container at pos, unless it is one that is known.
func (p *parser) marked() (Value, *SyntaxError) {
	if known := p.seen.at(p); known != nil {
		p.pos += known.end - known.start
		return known.value, nil
	}
	i := p.mark()
	v, err := p.container(p.text[p.pos])
	if i >= 0 {
		p.marks[i].end, p.marks[i].value = p.pos, v
	}
	return v, err
}

// likeness is what the texts of a pair have in common.
type likeness struct {
	marks  []mark // of the first text, by their start
	prefix int    // how many bytes both begin with
	suffix int    // where in the second text begins what both end with
	shift  int    // how much farther that is from the start than in the first text
}

func newLikeness(marks []mark, first, second []byte) likeness {
	n := commonEnd(first, second)
	return likeness{marks, commonStart(first, second), len(second) - n, len(second) - len(first)}
}

// at returns the mark of the container that the parser, which reads the second text, is in front of, and nil if the first text has
// none there, or has it otherwise.
func (l *likeness) at(p *parser) *mark {
	if len(l.marks) == 0 {
		return nil
	}
	start, limit := p.pos, l.prefix
	if start >= l.suffix {
		start, limit = start-l.shift, len(p.text)
	} else if start >= l.prefix {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.marks, start, func(m mark, start int) int { return cmp.Compare(m.start, start) })
	if m := &l.marks[min(i, len(l.marks)-1)]; ok && m.end <= limit && m.depth == p.depth && m.matched == p.matched {
		return m
	}
	return nil
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
