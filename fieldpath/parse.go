package fieldpath

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// ErrUnknownKind is the error for an element whose kind, the letter before the colon, is none of f, k, v and i. Such
// elements may come from later releases of Kubernetes; [ParseSet] leaves them out.
var ErrUnknownKind = errors.New("unknown kind of path element")

// ParseElement reads an element as fieldsV1 names it:
//
//   - f: and a name, which may be empty;
//   - k: and a JSON object, or null for the key without fields;
//   - v: and a JSON value;
//   - i: and a decimal integer, with or without sign.
//
// White space around JSON is passed over. The error is [ErrUnknownKind] for any other character and a colon, else a
// [*SyntaxError].
func ParseElement(wire string) (Element, error) {
	e, unknown, err := new(elementParser).element(wire)
	if unknown {
		return Element{}, ErrUnknownKind
	}
	if err != nil {
		return Element{}, syntaxError("path element", err)
	}
	return e, nil
}

// elementParser reads elements. The text of keys and items lies in the slabs of its maker.
type elementParser struct {
	maker Maker
}

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

// json reads the JSON behind the colon of a key or item.
func (p *elementParser) json(wire string, kind Kind) (Element, *jsontext.Error) {
	s := scan(wire, len("k:"))
	s.Space()
	var err *jsontext.Error
	switch b := p.maker.scratch[:0]; {
	case kind == KindItem:
		p.maker.scratch, err = s.value(b)
	case s.Peek() == '{':
		p.maker.scratch, err = s.key(b)
	case s.Peek() == 'n':
		p.maker.scratch, err = b, s.Literal("null")
	default:
		err = s.Unexpected("an object")
	}
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return Element{}, err
	}
	return Element{kind, p.maker.cut(p.maker.scratch)}, nil
}

// value appends the encoding of the JSON value at pos.
func (s *scanner) value(b []byte) ([]byte, *jsontext.Error) {
	switch s.Peek() {
	case '"':
		str, err := s.str()
		return appendText(append(b, tagString), str), err
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.numberValue(b)
	case '[':
		b = append(b, tagList)
		more, err := s.Open(']')
		for more && err == nil {
			if b, err = s.value(b); err == nil {
				more, err = s.More(']')
			}
		}
		return append(b, endMark), err
	case '{':
		return s.object(b)
	}
	return s.constant(b)
}

func (s *scanner) numberValue(b []byte) ([]byte, *jsontext.Error) {
	i, f, integer, err := s.Number()
	switch {
	case err != nil:
		return b, err
	case integer:
		return appendInt(b, i), nil
	}
	return appendFloat(b, f), nil
}

// member is one member of an object that is being read: its name, and where its encoding lies.
type member struct {
	name       string
	start, end int
}

// members appends, for each member of the object at pos, mark, its name and its value, and says where each lies.
func (s *scanner) members(b, mark []byte) ([]byte, []member, *jsontext.Error) {
	var members []member
	more, err := s.Open('}')
	for more && err == nil {
		m := member{start: len(b)}
		if m.name, err = s.name(len(members) == 0); err != nil {
			break
		}
		b = appendText(append(b, mark...), m.name)
		if b, err = s.value(b); err != nil {
			break
		}
		m.end = len(b)
		members = append(members, m)
		more, err = s.More('}')
	}
	return b, members, err
}

func compareMembers(a, b member) int { return strings.Compare(a.name, b.name) }

// key appends the text of the key that the object at pos is. Of equal names all are kept, in their order.
func (s *scanner) key(b []byte) ([]byte, *jsontext.Error) {
	start := len(b)
	b, members, err := s.members(b, nil)
	if err != nil || slices.IsSortedFunc(members, compareMembers) {
		return b, err
	}
	slices.SortStableFunc(members, compareMembers)
	return rearrange(b, start, members), nil
}

// object appends the encoding of the object at pos. Of equal names the last counts.
func (s *scanner) object(b []byte) ([]byte, *jsontext.Error) {
	b = append(b, tagObject)
	start := len(b)
	b, members, err := s.members(b, []byte{memberMark})
	if err != nil {
		return b, err
	}
	slices.SortStableFunc(members, compareMembers)
	kept := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].name != m.name {
			kept = append(kept, m)
		}
	}
	return append(rearrange(b, start, kept), endMark), nil
}

// rearrange returns b with what follows start replaced by the members, in their order.
func rearrange(b []byte, start int, members []member) []byte {
	sorted := make([]byte, 0, len(b)-start)
	for _, m := range members {
		sorted = append(sorted, b[m.start:m.end]...)
	}
	return append(b[:start], sorted...)
}
