package value

import (
	"errors"
	"math"

	"github.com/deed-project/deed/internal/jsontext"
)

// Reading documents one after the other. What is known of the document before is used in two ways:
// Parse finds by bytes what two texts have in common (pair.go), FromAny by members and items what
// two documents have (draft.go).

// Decoder reads documents that belong together, such as a stored object and the one that is to
// replace it. Each document shares with the one before it what is the same: see [Value.Same].
// Sharing changes nothing but storage: the outcome is Equal to that of [Parse] or [FromAny].
//
//	document before  {"metadata":{"name":"web"},"spec":{"replicas":1,"template":{…}}}
//	next document    {"metadata":{"name":"web"},"spec":{"replicas":2,"template":{…}}}
//	shared                       └────────────┘                         └──┘
//
// What is shared costs no memory, need not be sorted, and ends every later walk that compares the
// two documents.
//
// The zero Decoder is ready. The nil Decoder has no options and remembers nothing. Options are set
// before the first document and stay. A Decoder must not be used by two goroutines at once; what it
// returns may be.
type Decoder struct {
	// Last is the document that was read last, which the next one is expected to resemble. It may
	// be set to any other document, wherever that is from; if it is absent, nothing is expected. An
	// error leaves it as it was.
	Last Value

	// Repair makes Parse take what kube-apiserver takes as the text of an object: bytes that are
	// not UTF-8, and escapes of half a surrogate pair. U+FFFD stands for each. Objects from the
	// wire and from files are read so; schemas, and whatever else a program brings with it, are
	// read without.
	Repair bool

	// Repeats makes Parse take a name twice in one object: the last member with it counts.
	// kubectl's record of what it applied last is read so, as kube-apiserver reads it. In an
	// object, a name twice is an error, because a writer lost something and the reader would not
	// know.
	Repeats bool

	// Text leads to values that Parse does not read: each becomes a string that holds its JSON
	// text, which is checked to be JSON. A step is the name of a member, or "*" for every item of a
	// list. Where a document has something else than the path says, it is read as usual.
	Text []string

	// Except leads to a member that FromAny leaves out, by the names of members from the outermost
	// map on. There need not be such a member, and nobody looks at what it is.
	Except []string

	// Other converts what FromAny meets that is not nil, a bool, string, int64, float64, []any or
	// map[string]any: other number types and a [Value] too. Its error becomes part of FromAny's, with
	// the place. nil converts what the function [FromAny] does, and nothing else. A program that reads
	// more kinds of maps sets it, or one that wants to know whether ToAny would give back what it read.
	Other func(v any) (Value, error)

	known func(text string) string // see internal.SetKnown

	text  []byte // of Last, if Parse read that
	read  Value  // Last, if Parse read that
	marks []mark // of containers in text, by their start
}

// Parse is the function [Parse] for the next document. It compares the text with that of the
// document before, if Parse read that too. Where both texts begin with the same bytes, or end with
// the same, the lists and objects in there are not read again, if they have some length. The Decoder
// keeps text, which must not change until the next document has been read. The error is a
// [*SyntaxError].
//
// Cost: linear in the length of text.
func (d *Decoder) Parse(text []byte) (Value, error) {
	if d == nil {
		return Parse(text)
	}
	p := d.parser(text)
	defer p.release()
	p.marking = uint64(len(text)) <= math.MaxUint32 // more marks cannot tell
	if len(d.marks) > 0 && d.Last.Same(d.read) {
		p.seen = newLikeness(d.marks, d.text, text)
	}
	v, err := p.document()
	if err != nil {
		return Value{}, syntaxError(err)
	}
	d.Last, d.read, d.text = v, v, text
	clear(d.marks)
	d.marks = append(d.marks[:0], p.marks...)
	return v, nil
}

// parser returns a parser of text with the options of d.
func (d *Decoder) parser(text []byte) *parser {
	p := parsers.Get().(*parser)
	p.Text, p.keep, p.known, p.repeats = jsontext.Lend(text), d.Text, d.known, d.Repeats
	if d.Repair {
		p.Mode = jsontext.Repair
	}
	return p
}

// parseAlone is Parse for a text that is like none before or after it.
func (d *Decoder) parseAlone(text []byte) (Value, error) {
	p := d.parser(text)
	v, err := p.document()
	p.release()
	if err != nil {
		return Value{}, syntaxError(err)
	}
	return v, nil
}

// FromAny is the function [FromAny] for the next document. A part of v that is exactly what the
// document before has in the same place, members by name and items by number, becomes that part: if
// all is the same, the outcome is [Decoder.Last]. The error is a [*ConversionError].
//
// Cost: linear in the size of v, with a factor log n for names that come in no order.
func (d *Decoder) FromAny(v any) (Value, error) {
	if d == nil {
		return FromAny(v)
	}
	c := converters.Get().(*converter)
	defer c.release()
	if _, ok := v.(map[string]any); ok && len(d.Except) > 0 {
		c.except = d.Except
	}
	c.other = d.Other
	out, err := c.value(v, d.Last)
	if err != nil {
		return Value{}, err.located()
	}
	d.Last = out
	return out, nil
}

// errNoTarget is the error of UnmarshalJSON for a nil pointer.
var errNoTarget = errors.New("value: UnmarshalJSON of a nil *Value")

// UnmarshalJSON implements encoding/json.Unmarshaler by [Parse]. A nil v is an error.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	if v == nil {
		return errNoTarget
	}
	*v = parsed
	return nil
}
