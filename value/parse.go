package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxDepth is how many lists and objects [Parse] and [FromAny] accept inside each other.
const MaxDepth = 10000

// SyntaxError says where and why a text is no JSON document.
type SyntaxError struct {
	Offset int    // of the first byte that is wrong, counted from 0
	Path   string // of the value that is being read, such as .spec.ports[2]; empty at the root
	Reason string // such as "duplicate name \"a\""
}

// Error returns the reason with its place.
func (e *SyntaxError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("invalid JSON at byte %d, in %s: %s", e.Offset, e.Path, e.Reason)
}

// Parse reads one JSON document as RFC 8259 has it. These are errors too, always a [*SyntaxError]: a name twice in an
// object, anything but white space after the document, bytes that are not UTF-8, escapes that are half of a surrogate
// pair, a number that overflows a float64, and nesting deeper than [MaxDepth].
//
// Numbers without fraction and exponent that fit an int64 become KindInt, all others KindFloat, as Kubernetes decodes them.
//
// The result shares no memory with text, but strings in it share one copy of text, which lives as long as any of them.
func Parse(text []byte) (Value, error) {
	p := parsers.Get().(*parser)
	p.text = string(text)
	v, err := p.document()
	p.release()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parser reads text from pos on. Members and items of containers that are still open wait on two stacks; a container that
// closes moves its part of a stack, sorted, to a slab of the arena, so that finished values lie close together.
type parser struct {
	text  string
	pos   int
	depth int
	arena arena
	open  []openMember // members of the open objects, innermost last
	items []Value      // items of the open lists, innermost last
}

type openMember struct {
	Member
	offset int // of the name, for the message about duplicates
}

// release makes p ready for another text and gives it back, without what belongs to the result.
func (p *parser) release() {
	clear(p.open[:cap(p.open)])
	clear(p.items[:cap(p.items)])
	*p = parser{open: p.open[:0], items: p.items[:0]}
	if cap(p.open) <= 1<<16 && cap(p.items) <= 1<<16 {
		parsers.Put(p)
	}
}

func (p *parser) document() (Value, *SyntaxError) {
	p.arena.expect(len(p.text))
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

func (p *parser) fail(format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: p.pos, Reason: fmt.Sprintf(format, args...)}
}

// within adds one step, outermost last, to the path of an error on its way out.
func (e *SyntaxError) within(step string) *SyntaxError {
	e.Path = step + e.Path
	return e
}

func (p *parser) space() {
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
	switch c := p.peek(); c {
	case '{':
		return p.object()
	case '[':
		return p.list()
	case '"':
		s, err := p.str()
		return fromString(s), err
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

func (p *parser) unexpected(want string) *SyntaxError {
	if p.pos >= len(p.text) {
		return p.fail("unexpected end, want %s", want)
	}
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return p.fail("byte 0x%02x is not UTF-8", p.text[p.pos])
	}
	return p.fail("unexpected %q, want %s", r, want)
}

func (p *parser) literal(word string) *SyntaxError {
	if !strings.HasPrefix(p.text[p.pos:], word) {
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
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	first, sorted := len(p.open), true
	for more := p.peek() != '}'; more; {
		name, offset, err := p.name()
		if err != nil {
			return Value{}, err
		}
		v, err := p.value()
		if err != nil {
			return Value{}, err.within("." + name)
		}
		if sorted && len(p.open) > first {
			sorted = p.open[len(p.open)-1].Name < name
		}
		p.open = append(p.open, openMember{Member{name, v}, offset})
		if more, err = p.comma('}'); err != nil {
			return Value{}, err
		}
	}
	p.pos++
	p.depth--
	if !sorted {
		if err := p.sort(p.open[first:]); err != nil {
			return Value{}, err
		}
	}
	v := p.arena.object(p.open[first:])
	p.open = p.open[:first]
	return v, nil
}

// name reads a member's name and the colon behind it.
func (p *parser) name() (name string, offset int, err *SyntaxError) {
	offset = p.pos
	if p.peek() != '"' {
		return "", offset, p.unexpected("a name in double quotes")
	}
	if name, err = p.str(); err != nil {
		return "", offset, err
	}
	if p.space(); p.peek() != ':' {
		return "", offset, p.unexpected("a colon")
	}
	p.pos++
	p.space()
	return name, offset, nil
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

// sort sorts the members of one object by name. It fails at the second of two equal names.
func (p *parser) sort(members []openMember) *SyntaxError {
	sortStable(members, func(a, b *openMember) bool { return a.Name < b.Name })
	for i := 1; i < len(members); i++ {
		if members[i-1].Name == members[i].Name {
			p.pos = members[i].offset
			return p.fail("duplicate name %q", members[i].Name)
		}
	}
	return nil
}

func (p *parser) list() (Value, *SyntaxError) {
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	first := len(p.items)
	for more := p.peek() != ']'; more; {
		v, err := p.value()
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
	v := p.arena.list(p.items[first:])
	p.items = p.items[:first]
	return v, nil
}

func (p *parser) number() (Value, *SyntaxError) {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !p.digits() {
		return Value{}, p.unexpected("a digit")
	}
	integer := true
	if p.peek() == '.' {
		integer = false
		if p.pos++; !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		integer = false
		if p.pos++; p.peek() == '+' || p.peek() == '-' {
			p.pos++
		}
		if !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	v, ok := parseNumber(p.text[start:p.pos], integer)
	if !ok {
		p.pos = start
		return Value{}, p.fail("number overflows a float64")
	}
	return v, nil
}

// parseNumber returns the value of text, which has JSON's grammar. It reports whether a float64 holds it.
func parseNumber(text string, integer bool) (Value, bool) {
	if integer {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(i), true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, false
	}
	return Float(f), true
}

// digits passes the digits at pos and reports whether there was one.
func (p *parser) digits() bool {
	start := p.pos
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos > start
}

// str reads the string at pos. A string without escapes is a part of the text.
func (p *parser) str() (string, *SyntaxError) {
	start := p.pos + 1
	ascii := true
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			if s := p.text[start:i]; ascii || utf8.ValidString(s) {
				p.pos = i + 1
				return s, nil
			}
			return p.unescape(start)
		case c == '\\' || c < ' ':
			return p.unescape(start)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return p.unescape(start)
}

// unescape reads the string whose first byte after the quote is at start, the slow way: with escapes and all errors.
func (p *parser) unescape(start int) (string, *SyntaxError) {
	var b []byte
	for p.pos = start; p.pos < len(p.text); {
		c := p.text[p.pos]
		switch {
		case c == '"':
			p.pos++
			return textOf(b), nil
		case c < ' ':
			return "", p.fail("control character 0x%02x in a string", c)
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
		default:
			r, size := utf8.DecodeRuneInString(p.text[p.pos:])
			if r == utf8.RuneError && size == 1 {
				return "", p.fail("byte 0x%02x is not UTF-8", c)
			}
			b = append(b, p.text[p.pos:p.pos+size]...)
			p.pos += size
		}
	}
	return "", p.fail("unexpected end, want the end of a string")
}

// escape reads one escape sequence, or two that are a surrogate pair.
func (p *parser) escape() (rune, *SyntaxError) {
	rest := p.text[p.pos:]
	if len(rest) < 2 {
		return 0, p.fail("unexpected end, want an escape")
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := hexEscape(rest)
	if !ok {
		return 0, p.fail("invalid escape")
	}
	size := 6
	if r >= 0xd800 && r < 0xe000 {
		low, ok := hexEscape(rest[6:])
		if !ok || r >= 0xdc00 || low < 0xdc00 || low >= 0xe000 {
			return 0, p.fail("escape of half a surrogate pair")
		}
		r, size = (r-0xd800)<<10|(low-0xdc00)+0x10000, 12
	}
	p.pos += size
	return r, nil
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
