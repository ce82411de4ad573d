package fieldpath

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// This file reads paths as people write them in command lines and files. The grammar:
//
//	path     step …             the first dot may be left out
//	step     .name  or  [index]  or  [key]  or  [=value]
//	name     a JSON string, a string as Go quotes it, or anything up to the next dot or bracket
//	key      name=value,…       empty for the key without fields
//	value    JSON, or a string as Go quotes it
//
// Each part of a path becomes an element:
//
//	spec."a.b"[name="web",port=80].args[0]
//
//	spec                   Field spec     the first dot is left out
//	."a.b"                 Field a.b      in quotes, because it has a dot
//	[name="web",port=80]   Key
//	.args                  Field args
//	[0]                    Index 0

// ParsePath reads a path as [Path.Text] writes it. It also reads the text of [Path.String] if that
// has only one meaning. Examples are a name with a space, and a string quoted as in Go. The first
// dot may be left out. Every error is a [*SyntaxError].
func ParsePath(text string) (Path, error) {
	p := pathParser{scanner: scan(text, 0)}
	path, err := p.path()
	if err != nil {
		return nil, syntaxError("path", err)
	}
	return path, nil
}

// pathParser reads one path.
type pathParser struct {
	scanner
	elements elementParser
}

// path reads all of the text.
func (p *pathParser) path() (Path, *jsontext.Error) {
	var path Path
	for p.Pos < len(p.Text) {
		var e Element
		var err *jsontext.Error
		switch c := p.Peek(); {
		case c == '[':
			p.Pos++
			e, err = p.item()
		case c == '.':
			p.Pos++
			fallthrough
		case p.Pos == 0:
			var name string
			name, err = p.pathName(".[")
			e = Field(name)
		default:
			err = p.Unexpected("a dot or '['")
		}
		if err != nil {
			return nil, err
		}
		path = append(path, e)
	}
	return path, nil
}

// pathName reads a name in quotes, or a bare name up to a byte of ends or the end of the text.
func (p *pathParser) pathName(ends string) (string, *jsontext.Error) {
	if p.Peek() == '"' {
		return p.quoted()
	}
	start := p.Pos
	for p.Pos < len(p.Text) && strings.IndexByte(ends, p.Text[p.Pos]) < 0 {
		if c := p.Text[p.Pos]; c == '"' || c == ']' {
			return "", p.Unexpected("a name; put it in double quotes if it has this character")
		}
		p.Pos++
	}
	if start == p.Pos {
		return "", p.Unexpected("a name")
	}
	return p.Text[start:p.Pos], nil
}

// item reads the text between brackets, and the closing bracket.
func (p *pathParser) item() (e Element, err *jsontext.Error) {
	rest := p.Text[p.Pos:]
	switch {
	// The text ends here.
	case rest == "":
		return e, p.Unexpected("an index, a key or a value")
	// [="a"]: an item of a set, by its value.
	case rest[0] == '=':
		p.Pos++
		t := &p.elements.text
		if t.Scratch, err = p.bracketValue(t.Scratch[:0]); err == nil {
			e = Element{KindItem, t.Cut(t.Scratch)}
		}
	// [80] is an index, and [80=true] is a key whose first name begins with a digit. The first byte
	// that ends a number or name decides.
	case rest[0] == '-' || '0' <= rest[0] && rest[0] <= '9':
		if end := strings.IndexAny(rest, "]=,\""); end >= 0 && rest[end] == '=' {
			e, err = p.key()
		} else {
			e, err = p.index()
		}
	// [name="web"]: an item of a keyed list.
	default:
		e, err = p.key()
	}
	if err != nil {
		return Element{}, err
	}
	if p.Peek() != ']' {
		return Element{}, p.Unexpected("']'")
	}
	p.Pos++
	return e, nil
}

// index reads a decimal integer.
func (p *pathParser) index() (Element, *jsontext.Error) {
	start := p.Pos
	if p.Peek() == '-' {
		p.Pos++
	}
	if !p.Digits() {
		return Element{}, p.Unexpected("a digit")
	}
	i, err := strconv.Atoi(p.Text[start:p.Pos])
	if err != nil {
		p.Pos = start
		return Element{}, p.Fail("index overflows an int")
	}
	return Index(i), nil
}

// key reads the fields of a key, each a name, '=' and a value, with commas between them. It encodes
// them in the order of the text, and then sorts them by name.
func (p *pathParser) key() (Element, *jsontext.Error) {
	t := &p.elements.text
	b := t.Scratch[:0]
	var members []member
	for more := p.Peek() != ']'; more; {
		name, err := p.pathName("=,")
		if err != nil {
			return Element{}, err
		}
		if p.Peek() != '=' {
			return Element{}, p.Unexpected("'='")
		}
		p.Pos++
		start := len(b)
		if b, err = p.bracketValue(appendText(b, name)); err != nil {
			return Element{}, err
		}
		members = append(members, member{name, start, len(b)})
		if more = p.Peek() == ','; more {
			p.Pos++
		}
	}
	slices.SortStableFunc(members, compareMembers)
	t.Scratch = rearrange(b, 0, members)
	return Element{KindKey, t.Cut(t.Scratch)}, nil
}

// bracketValue appends the encoding of the value at the position.
func (p *pathParser) bracketValue(b []byte) ([]byte, *jsontext.Error) {
	if p.Peek() != '"' {
		return p.value(b)
	}
	s, err := p.quoted()
	return appendText(append(b, tagString), s), err
}

// quoted reads a string in double quotes, as JSON or, if it is no JSON, as Go.
func (p *pathParser) quoted() (string, *jsontext.Error) {
	start := p.Pos
	s, err := p.str()
	if err == nil {
		return s, nil
	}
	quoted, goErr := strconv.QuotedPrefix(p.Text[start:])
	if goErr != nil {
		return "", err
	}
	if s, goErr = strconv.Unquote(quoted); goErr != nil {
		return "", err
	}
	p.Pos = start + len(quoted)
	return s, nil
}
