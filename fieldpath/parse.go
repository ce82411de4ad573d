package fieldpath

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/value"
)

// This file reads one element as fieldsV1 names it. The values of keys and items may be any JSON
// that json-iterator accepts. They are read as documents, which are then encoded.

// errUnknownKind is the error for an element whose kind, the letter before the colon, is not f, k,
// v or i. Such elements may come from later releases of Kubernetes. [ParseSet] leaves them out.
var errUnknownKind = errors.New("unknown kind of path element")

// parseElement reads an element as fieldsV1 names it:
//
//   - f: and a name, which may be empty;
//   - k: and a JSON object, or null for the key without fields;
//   - v: and a JSON value;
//   - i: and a decimal integer, with or without sign.
//
// White space around JSON is ignored. The error is [errUnknownKind] for any other character and a
// colon, else a [*SyntaxError].
func parseElement(wire string) (Element, error) {
	e, unknown, err := new(elementParser).element(wire)
	if unknown {
		return Element{}, errUnknownKind
	}
	if err != nil {
		return Element{}, syntaxError("path element", err)
	}
	return e, nil
}

// elementParser reads elements. It cuts the texts of keys and items from slabs.
type elementParser struct {
	text      slab.Text
	trailing  bool // text after the JSON of a key or item is ignored
	unordered bool // the last key or item had an object whose members are not strictly ascending
}

// element reads an element. unknown reports a kind that fieldsV1 does not have.
func (p *elementParser) element(wire string) (e Element, unknown bool, err *jsontext.Error) {
	if len(wire) < 2 || wire[1] != ':' {
		return Element{}, false, &jsontext.Error{Offset: min(len(wire), 1), Reason: "want a letter and a colon"}
	}
	switch wire[0] {
	case 'f':
		return Field(wire[2:]), false, nil
	case 'i':
		i, err := strconv.Atoi(wire[2:])
		if err != nil {
			return Element{}, false, &jsontext.Error{Offset: 2, Reason: "want a decimal integer"}
		}
		return Index(i), false, nil
	case 'k':
		e, err = p.json(wire, KindKey)
		return e, false, err
	case 'v':
		e, err = p.json(wire, KindItem)
		return e, false, err
	}
	return Element{}, true, nil
}

// json reads the JSON after the colon of a key or item.
func (p *elementParser) json(wire string, kind Kind) (Element, *jsontext.Error) {
	s := scan(wire, len("k:"))
	s.Space()
	var err *jsontext.Error
	switch b := p.text.Scratch[:0]; {
	case kind == KindItem:
		p.text.Scratch, err = s.value(b)
	case s.Peek() == '{':
		p.text.Scratch, err = s.key(b)
	case s.Peek() == 'n':
		p.text.Scratch, err = b, s.Literal("null")
	default:
		err = s.Unexpected("an object")
	}
	switch {
	case err != nil:
	case !p.trailing:
		err = s.End()
	// json-iterator reads all characters of a number before it checks them.
	case strings.ContainsAny(wire[s.Pos-1:s.Pos], "0123456789") && strings.IndexByte("+-.0123456789Ee", s.Peek()) >= 0:
		err = s.Unexpected("the end of a number")
	}
	if err != nil {
		return Element{}, err
	}
	p.unordered = s.unordered
	return Element{kind, p.text.Cut(p.text.Scratch)}, nil
}

// value appends the encoding of the JSON value at the position.
func (s *scanner) value(b []byte) ([]byte, *jsontext.Error) {
	v, err := s.document()
	if err != nil {
		return b, err
	}
	return appendValue(b, v), nil
}

// document returns the JSON value at the position, which may share memory with the text. If several
// members have one name, the last counts.
//
// It does not append the encoding of a value while it reads the value. The members of an object
// must be sorted, and to move their encodings would cost the length of an object times its depth.
func (s *scanner) document() (value.Value, *jsontext.Error) {
	switch s.Peek() {
	case '"':
		text, err := s.str()
		return value.String(text), err
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.numberValue()
	case '[':
		return s.list()
	case '{':
		return s.object()
	case 't':
		return value.Bool(true), s.Literal("true")
	case 'f':
		return value.Bool(false), s.Literal("false")
	case 'n':
		return value.Null(), s.Literal("null")
	}
	return value.Value{}, s.Unexpected("a value")
}

// list reads the list at the position.
func (s *scanner) list() (value.Value, *jsontext.Error) {
	var items []value.Value
	more, err := s.Open(']')
	for more && err == nil {
		var item value.Value
		if item, err = s.document(); err == nil {
			items = append(items, item)
			more, err = s.More(']')
		}
	}
	return value.List(items...), err
}

// object reads the object at the position. null may stand for a name that is not the first.
func (s *scanner) object() (value.Value, *jsontext.Error) {
	members := make([]value.Member, 0, 2)
	more, err := s.Open('}')
	for more && err == nil {
		var m value.Member
		if m.Name, err = s.name(len(members) == 0); err != nil {
			break
		}
		if m.Value, err = s.document(); err != nil {
			break
		}
		members = append(members, m)
		more, err = s.More('}')
	}
	return s.objectOfLast(members), err
}

// objectOfLast returns the object of members. If several have one name, the last counts.
func (s *scanner) objectOfLast(members []value.Member) value.Value {
	// Members are mostly sorted already, as the reference writes them.
	ascending := true
	for i := 1; i < len(members) && ascending; i++ {
		ascending = members[i-1].Name < members[i].Name
	}
	if ascending {
		return value.Object(members...)
	}
	s.unordered = true
	slices.SortStableFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	kept := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].Name != m.Name {
			kept = append(kept, m)
		}
	}
	return value.Object(kept...)
}

// numberValue reads the number at the position. It is an integer if it is written as one and an
// int64 holds it.
func (s *scanner) numberValue() (value.Value, *jsontext.Error) {
	i, f, integer, err := s.Number()
	switch {
	case err != nil:
		return value.Value{}, err
	case integer:
		return value.Int(i), nil
	}
	return value.Float(f), nil
}

// member is one member of an object that is being read: its name, and the place of its encoding.
type member struct {
	name       string
	start, end int
}

// compareMembers orders the members of a key by name.
func compareMembers(a, b member) int { return strings.Compare(a.name, b.name) }

// key appends the text of the key that is written as the object at the position. It keeps all
// members with equal names, in their order.
func (s *scanner) key(b []byte) ([]byte, *jsontext.Error) {
	var members []member
	start := len(b)
	more, err := s.Open('}')
	for more && err == nil {
		m := member{start: len(b)}
		if m.name, err = s.name(len(members) == 0); err != nil {
			break
		}
		if b, err = s.value(appendText(b, m.name)); err != nil {
			break
		}
		m.end = len(b)
		members = append(members, m)
		more, err = s.More('}')
	}
	if err != nil || slices.IsSortedFunc(members, compareMembers) {
		return b, err
	}
	slices.SortStableFunc(members, compareMembers)
	return rearrange(b, start, members), nil
}

// rearrange returns b with the bytes from start on replaced by the members, in their order.
func rearrange(b []byte, start int, members []member) []byte {
	sorted := make([]byte, 0, len(b)-start)
	for _, m := range members {
		sorted = append(sorted, b[m.start:m.end]...)
	}
	return append(b[:start], sorted...)
}
