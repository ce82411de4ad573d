package value

import (
	"errors"
	"math"

	"github.com/deed-project/deed/internal/jsontext"
)

// Reading documents one after the other. A Decoder finds the common parts of a document and its
// predecessor in two ways. Parse compares the bytes of the texts (pair.go). FromAny compares
// members and items (draft.go).

// Decoder reads documents that belong together, such as a stored object and its replacement. Each
// document shares its unchanged parts with the document before: see [Value.Same]. Sharing affects
// storage only: the result is Equal to the result of [Parse] or [FromAny].
//
//	document before  {"metadata":{"name":"web"},"spec":{"replicas":1,"template":{…}}}
//	next document    {"metadata":{"name":"web"},"spec":{"replicas":2,"template":{…}}}
//	shared                       └────────────┘                         └──┘
//
// A shared part costs no memory and is not sorted again. A walk that compares the two documents can
// skip it.
//
// The zero Decoder is ready. The nil Decoder has no options and keeps nothing. Options are set
// before the first document and do not change. A Decoder must not be used by two goroutines at
// once. The values that it returns are safe for concurrent use.
type Decoder struct {
	// Last is the last document. The Decoder compares the next document with it. It may be set to
	// any document, from any source; if it is absent, there is no comparison. An error does not
	// change it.
	Last Value

	// Repair makes Parse accept bytes that are not UTF-8, and escapes of half a surrogate pair, as
	// kube-apiserver does in the text of an object. Each becomes U+FFFD. Set Repair for objects from
	// the wire or from files, not for schemas and other files that a program brings with it.
	Repair bool

	// Repeats makes Parse accept a duplicate name in an object: the last member wins. Set Repeats for
	// kubectl's annotation of the last applied configuration, as kube-apiserver reads it. In other
	// documents, a writer loses a member by a duplicate name, and the reader would not know.
	Repeats bool

	// Text is the path to values that Parse does not read: each becomes a string with its JSON
	// text, which is checked. A step is the name of a member, or "*" for every item of a list.
	// Where a document does not have the containers of the path, it is read as usual.
	Text []string

	// Except is the path to a member that FromAny omits. Its steps are names of members, from the
	// outermost map on. The member need not exist, and FromAny does not read it.
	Except []string

	// Other converts each value that is not nil or a bool, string, int64, float64, []any or
	// map[string]any. So it gets other number types and each [Value] too. FromAny wraps its error
	// with the path. If Other is nil, FromAny converts the types of the function [FromAny]. Other
	// can convert more kinds of maps, or detect values that ToAny would not give back.
	Other func(v any) (Value, error)

	known func(text string) string // see internal.SetKnown

	text  []byte // of Last, if Parse read Last
	read  Value  // Last, if Parse read Last
	marks []mark // of the containers in text, by their start
}

// Parse is the function [Parse] for the next document. If Parse read the document before too, it
// compares the two texts. It does not read again the lists and objects in their common prefix and
// suffix, except short or deep ones. The Decoder keeps text, which must not change until the next
// document has been read. The error is a [*SyntaxError].
//
// Cost: linear in the length of text, with a factor log n for names that are sorted.
func (d *Decoder) Parse(text []byte) (Value, error) {
	if d == nil {
		return Parse(text)
	}
	p := d.parser(text)
	defer p.release()
	p.marking = uint64(len(text)) <= math.MaxUint32 // the largest offset of a mark
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

// parseAlone is Parse without comparison. It uses the options of d and leaves d unchanged.
func (d *Decoder) parseAlone(text []byte) (Value, error) {
	p := d.parser(text)
	v, err := p.document()
	p.release()
	if err != nil {
		return Value{}, syntaxError(err)
	}
	return v, nil
}

// FromAny is the function [FromAny] for the next document. It compares v with the document before,
// members by name and items by index. An equal list or object becomes the part of that document,
// except inside an object that has lost more than two thirds of its members. If the documents are
// equal, the result is [Decoder.Last]. The error is a [*ConversionError].
//
// Cost: linear in the size of v, with a factor log n for names that are sorted.
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
