package value

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/deed-project/deed/internal/work"
)

// MaxDepth is how many lists and objects [Parse] and [FromAny] accept inside each other.
const MaxDepth = 10000

// Parse reads one JSON document as RFC 8259 has it. These are errors too, always a [*SyntaxError]: a name twice in an
// object, anything but white space after the document, bytes that are not UTF-8, escapes that are half of a surrogate
// pair, a number that overflows a float64, and nesting deeper than [MaxDepth].
//
// Numbers without fraction and exponent that fit an int64 become KindInt, all others KindFloat, as Kubernetes decodes them.
//
// The result shares no memory with text. Its parts lie together, so that a part that is kept may keep others.
func Parse(text []byte) (Value, error) {
	p := parsers.Get().(*parser)
	p.text = text
	v, err := p.document()
	p.release()
	if err != nil {
		return Value{}, err.located()
	}
	return v, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parser reads text from pos on. Members and items of containers that are still open wait on two stacks; a container that
// closes moves its part of a stack, sorted, to the arena, so that finished values lie close together.
//
// The text is the caller's and stays as it is. Names are shared between all objects that have them; other strings go to the
// arena.
type parser struct {
	text  []byte
	pos   int
	depth int
	arena arena
	open  []Member // members of the open objects, innermost last
	items []Value  // items of the open lists, innermost last

	names   nameTable
	shorts  nameTable // short strings that are no names, of this document only
	scratch []byte    // of the string that is being read, if it has escapes

	keep    []string // the path to what stays text, see [Decoder.Text]
	matched int      // how many of its steps the parser has gone
	values  int      // how many were read

	marking bool     // containers are marked
	marks   []mark   // of the text
	seen    likeness // of the text to the one before
}

// maxKept bounds the stacks that wait in a pool for another document.
const maxKept = 1 << 12

// release makes p ready for another text and gives it back, without what belongs to the result.
func (p *parser) release() {
	clear(p.open)
	work.Add(work.Counts{Values: p.values})
	clear(p.items)
	clear(p.marks)
	clear(p.shorts.places[:])
	p.text, p.pos, p.depth, p.arena, p.matched = nil, 0, 0, arena{}, 0
	p.keep, p.marking, p.marks, p.seen, p.values = nil, false, p.marks[:0], likeness{}, 0
	p.open, p.items, p.scratch = p.open[:0], p.items[:0], p.scratch[:0]
	if cap(p.open) <= maxKept && cap(p.items) <= maxKept {
		parsers.Put(p)
	}
}

// maxBytes bounds the arrays that strings are cut from.
const maxBytes = 8 << 10

func (p *parser) document() (Value, *SyntaxError) {
	// There are about as many members as colons, unless strings are full of them: few texts have members of 16 bytes.
	p.arena.members.due = min(bytes.Count(p.text, []byte{':'}), len(p.text)/16+1)
	p.arena.bytes.due, p.arena.bytes.most = len(p.text)/4, maxBytes
	if p.keep != nil {
		p.arena.members.due /= 4 // what is kept may be most of the text
	}
	if len(p.seen.marks) > 0 {
		p.arena.members.due, p.arena.bytes.due = 0, 0 // most of it is there already
	}
	p.space()
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	if p.space(); p.pos < len(p.text) {
		return Value{}, p.fail("data after the document")
	}
	return v, nil
}

// space passes white space.
func (p *parser) space() {
	if p.pos < len(p.text) && p.text[p.pos] <= ' ' {
		p.passSpace()
	}
}

func (p *parser) passSpace() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, and 0, which starts nothing in JSON, at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) value() (Value, *SyntaxError) {
	p.values++
	switch c := p.peek(); c {
	case '{', '[':
		if p.marksHere() {
			return p.marked()
		}
		return p.container(c)
	case '"':
		s, err := p.str()
		return fromString(p.short(s)), err
	case 't':
		return Bool(true), p.literal("true")
	case 'f':
		return Bool(false), p.literal("false")
	case 'n':
		return Null(), p.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	return Value{}, p.unexpected("a value")
}

// maxShort is the longest string that is worth looking for among those that the document had already, such as TCP or True.
const maxShort = 16

// short returns s as a string: the one that is there already, or else one in the arena.
func (p *parser) short(s []byte) string {
	if len(s) == 0 || len(s) > maxShort {
		return p.arena.string(s)
	}
	place := p.shorts.place(s)
	if *place != string(s) {
		*place = p.arena.string(s)
	}
	return *place
}

// container reads the list or object at pos, whose opening bracket is c.
func (p *parser) container(c byte) (Value, *SyntaxError) {
	if c == '{' {
		return p.object()
	}
	return p.list()
}

func (p *parser) literal(word string) *SyntaxError {
	if !bytes.HasPrefix(p.text[p.pos:], []byte(word)) {
		return p.unexpected("a value")
	}
	p.pos += len(word)
	return nil
}

// enter counts the nesting at the bracket that opens a container, and passes it.
func (p *parser) enter() *SyntaxError {
	if p.depth++; p.depth > MaxDepth {
		return p.fail("nested deeper than %d", MaxDepth)
	}
	p.pos++
	p.space()
	return nil
}

func (p *parser) object() (Value, *SyntaxError) {
	start := p.pos
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	first, sorted := len(p.open), true
	for more := p.peek() != '}'; more; {
		name, err := p.name()
		if err != nil {
			return Value{}, err
		}
		var v Value
		if p.onPath(name) {
			v, err = p.step()
		} else {
			v, err = p.value()
		}
		if err != nil {
			return Value{}, err.within("." + name)
		}
		if sorted && len(p.open) > first {
			sorted = p.open[len(p.open)-1].Name < name
		}
		p.open = append(p.open, Member{name, v})
		if more, err = p.comma('}'); err != nil {
			return Value{}, err
		}
	}
	p.pos++
	p.depth--
	members := p.open[first:]
	if !sorted {
		if dup, ok := sortMembers(members); !ok {
			p.pos = p.second(start, members[dup].Name)
			return Value{}, p.fail("duplicate name %q", members[dup].Name)
		}
	}
	v := p.arena.object(members)
	clear(members)
	p.open = p.open[:first]
	return v, nil
}

// name reads a member's name and the colon behind it.
func (p *parser) name() (string, *SyntaxError) {
	if p.peek() != '"' {
		return "", p.unexpected("a name in double quotes")
	}
	s, err := p.str()
	if err != nil {
		return "", err
	}
	name := p.names.get(s)
	if p.space(); p.peek() != ':' {
		return "", p.unexpected("a colon")
	}
	p.pos++
	p.space()
	return name, nil
}

// second returns where the second member called name begins in the object at start, which is known to be JSON and to have it.
func (p *parser) second(start int, name string) int {
	p.pos = start + 1
	p.space()
	for found := false; ; {
		at := p.pos
		if s, err := p.name(); err != nil || s == name && found {
			return at
		} else if s == name {
			found = true
		}
		if err := p.pass(); err != nil {
			return at
		}
		if more, err := p.comma('}'); err != nil || !more {
			return at
		}
	}
}

// comma reads what follows a member or item: a comma, after which there is more, or the closing bracket, which it leaves.
func (p *parser) comma(closing byte) (more bool, err *SyntaxError) {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		p.space()
		return true, nil
	case closing:
		return false, nil
	}
	return false, p.unexpected(fmt.Sprintf("a comma or %q", closing))
}

func (p *parser) list() (Value, *SyntaxError) {
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	first, kept := len(p.items), p.onPath("*")
	for more := p.peek() != ']'; more; {
		var v Value
		var err *SyntaxError
		if kept {
			v, err = p.step()
		} else {
			v, err = p.value()
		}
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", len(p.items)-first))
		}
		p.items = append(p.items, v)
		if more, err = p.comma(']'); err != nil {
			return Value{}, err
		}
	}
	p.pos++
	p.depth--
	items := p.items[first:]
	v := p.arena.list(items)
	clear(items)
	p.items = p.items[:first]
	return v, nil
}
