package value

import (
	"fmt"
	"strings"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
)

// MaxDepth is the largest depth of nested lists and objects that [Parse] and [FromAny] accept.
const MaxDepth = jsontext.MaxDepth

// Parse reads one JSON document as defined by RFC 8259. The error is always a [*SyntaxError]. These
// are errors too: a duplicate name in an object, anything but white space after the document, bytes
// that are not UTF-8, and escapes that are half of a surrogate pair. A number that overflows a
// float64 and nesting deeper than [MaxDepth] are errors too. A [Decoder] can accept more.
//
// Numbers without fraction and exponent that fit an int64 become KindInt, all others KindFloat, as
// Kubernetes decodes them.
//
// The result shares no memory with text. Its parts lie together in memory, so one part may keep
// others alive.
func Parse(text []byte) (Value, error) {
	p := parsers.Get().(*parser)
	p.Text = jsontext.Lend(text) // until the release
	v, err := p.document()
	p.release()
	if err != nil {
		return Value{}, syntaxError(err)
	}
	return v, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parser reads a text. The members and items of open containers are on two stacks. When a container
// closes, its part of a stack moves to the arena, sorted. Finished values lie close together there.
//
// The text belongs to the caller and does not change. All objects with a name share its memory, and
// equal short strings of a document mostly share theirs. Other strings go to the arena.
type parser struct {
	jsontext.Scanner
	arena arena
	open  []Member // members of the open objects, innermost last
	items []Value  // items of the open lists, innermost last

	names   nameTable
	shorts  [128]string // short string values of this document; so few are cleared quickly
	scratch []byte      // of the string that is being read, if it has escapes

	keep    []string                 // the path to values that stay text, see [Decoder.Text]
	known   func(text string) string // see internal.SetKnown
	matched int                      // number of steps of keep that lead to the position
	values  int                      // number of values read

	repeats bool // accept duplicate names: the last member wins

	marking bool     // containers are marked
	marks   []mark   // of the text
	seen    likeness // of the text before and this text
	shared  int      // number of containers that were taken from the document before so far
}

// maxKept limits the stacks that stay in a pool, in elements. maxKeptText limits the buffer for
// strings, in bytes.
const (
	maxKept     = 1 << 12
	maxKeptText = 1 << 16
)

// release returns p to the pool, ready for another text. It drops all references to the result.
func (p *parser) release() {
	clear(p.open)
	work.Add(work.Counts{Values: p.values})
	clear(p.items)
	clear(p.marks)
	clear(p.shorts[:])
	p.Scanner, p.arena, p.matched = jsontext.Scanner{}, arena{}, 0
	p.keep, p.known, p.repeats, p.marking, p.marks, p.seen = nil, nil, false, false, slab.Kept(p.marks, maxKept), likeness{}
	p.values, p.shared = 0, 0
	p.open, p.items, p.scratch = slab.Kept(p.open, maxKept), slab.Kept(p.items, maxKept), slab.Kept(p.scratch, maxKeptText)
	parsers.Put(p)
}

// maxBytes limits the arrays that strings are cut from.
const maxBytes = 8 << 10

// fewBytes is the expected number of bytes of new strings in a text that mostly repeats the text
// before.
const fewBytes = 128

// document reads all of the text: one value, with white space around it. It first estimates the
// memory of the document, because a few large arrays cost few allocations.
func (p *parser) document() (Value, *jsontext.Error) {
	// The number of colons estimates the number of members. Colons in strings raise it, so the limit
	// is one member for 16 bytes, which few texts exceed.
	p.arena.members.Due = min(strings.Count(p.Text, ":"), len(p.Text)/16+1)
	p.arena.bytes.Due, p.arena.bytes.Most = len(p.Text)/4, maxBytes
	if p.keep != nil {
		p.arena.members.Due /= 4 // values that stay text may be most of the text
	}
	if len(p.seen.marks) > 0 {
		p.arena.members.Due, p.arena.bytes.Due = 0, min(len(p.Text)/16, fewBytes) // most parts exist already
	}
	p.Space()
	v, err := p.value()
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// value reads the value at pos. Its first byte determines its kind.
func (p *parser) value() (Value, *jsontext.Error) {
	p.values++
	switch c := p.Peek(); c {
	case '{', '[':
		if p.marksHere() {
			return p.marked()
		}
		return p.container(c)
	case '"':
		s, err := p.str()
		return fromString(p.short(s)), err
	case 't':
		return Bool(true), p.Literal("true")
	case 'f':
		return Bool(false), p.Literal("false")
	case 'n':
		return Null(), p.Literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	return Value{}, p.Unexpected("a value")
}

// maxShort is the length of the longest string value that the parser looks up among earlier ones,
// such as TCP or True. Longer strings rarely repeat.
const maxShort = 16

// short returns an equal string of the document if one is cached, or else a copy of s in the arena.
func (p *parser) short(s string) string {
	if len(s) == 0 || len(s) > maxShort {
		return p.arena.string(s)
	}
	place := &p.shorts[spread(s, len(p.shorts))]
	if *place != s {
		*place = p.arena.string(s)
	}
	return *place
}

// container reads the list or object at pos, whose opening bracket is c.
func (p *parser) container(c byte) (Value, *jsontext.Error) {
	if c == '{' {
		return p.object()
	}
	return p.list()
}

// object reads the object at pos. Its members are on p.open until the object closes. They go to the
// arena sorted, without duplicate names.
//
// Cost: linear in the text if the names are sorted in it, and n log n otherwise.
func (p *parser) object() (Value, *jsontext.Error) {
	start := p.Pos
	more, err := p.Open('}')
	if err != nil {
		return Value{}, err
	}
	first, shared, sorted := len(p.open), p.shared, true
	for more {
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
			return Value{}, err.Within("." + name)
		}
		if sorted && len(p.open) > first {
			sorted = p.open[len(p.open)-1].Name < name
		}
		p.open = append(p.open, Member{name, v})
		if more, err = p.More('}'); err != nil {
			return Value{}, err
		}
	}
	members := p.open[first:]
	if !sorted {
		if dup, ok := sortMembers(members); !ok && p.repeats {
			members = lastOfEachName(members)
		} else if !ok {
			p.Pos = p.second(start, members[dup].Name)
			return Value{}, p.Fail("duplicate name %q", members[dup].Name)
		}
	}
	v := p.arena.object(members, p.shared > shared)
	clear(p.open[first:])
	p.open = p.open[:first]
	return v, nil
}

// name reads a member's name and the colon after it.
func (p *parser) name() (string, *jsontext.Error) {
	if p.Peek() != '"' {
		return "", p.NoName()
	}
	s, err := p.str()
	if err != nil {
		return "", err
	}
	return p.names.get(s), p.Colon()
}

// str reads the string at the position. The result is valid until the next string is read.
func (p *parser) str() (string, *jsontext.Error) {
	if s, ok := p.PlainString(); ok {
		return s, nil
	}
	var err *jsontext.Error
	p.scratch, err = p.AppendString(p.scratch[:0])
	return jsontext.Lend(p.scratch), err
}

// number reads the number at pos. Short integers take the fast path of the scanner, all other
// numbers the full grammar.
func (p *parser) number() (Value, *jsontext.Error) {
	if i, ok := p.Integer(); ok {
		return Int(i), nil
	}
	i, f, integer, err := p.Number()
	switch {
	case err != nil:
		return Value{}, err
	case integer:
		return Int(i), nil
	}
	return Float(f), nil
}

// second returns the offset of the second member called name in the object at start. The object
// must be valid JSON and have two such members.
func (p *parser) second(start int, name string) int {
	p.Pos = start + 1
	p.Space()
	for found := false; ; {
		at := p.Pos
		if s, err := p.name(); err != nil || s == name && found {
			return at
		} else if s == name {
			found = true
		}
		if err := p.Skip(); err != nil {
			return at
		}
		if more, err := p.More('}'); err != nil || !more {
			return at
		}
	}
}

// list reads the list at pos. Its items are on p.items until the list closes.
func (p *parser) list() (Value, *jsontext.Error) {
	more, err := p.Open(']')
	if err != nil {
		return Value{}, err
	}
	first, shared, kept := len(p.items), p.shared, false
	if more {
		kept = p.onPath("*")
	}
	for i := 0; more; i++ {
		var v Value
		if kept {
			v, err = p.step()
		} else {
			v, err = p.value()
		}
		if err != nil {
			return Value{}, err.Within(fmt.Sprintf("[%d]", i))
		}
		p.items = append(p.items, v)
		if more, err = p.More(']'); err != nil {
			return Value{}, err
		}
	}
	items := p.items[first:]
	v := p.arena.list(items, p.shared > shared)
	clear(items)
	p.items = p.items[:first]
	return v, nil
}
