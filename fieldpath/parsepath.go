package fieldpath

import (
	"slices"
	"strconv"
	"strings"
)

// ParsePath reads a path as [Path.Text] writes it. It also takes what [Path.String] writes where that has one meaning only,
// such as a name with a space in it, or a string quoted as Go does. The first dot may be left out. Every error is a
// [*SyntaxError].
func ParsePath(text string) (Path, error) {
	p := pathParser{scanner: scanner{text: text}}
	path, err := p.path()
	if err != nil {
		err.What = "path"
		return nil, err
	}
	return path, nil
}

type pathParser struct {
	scanner
	elements elementParser
}

func (p *pathParser) path() (Path, *SyntaxError) {
	var path Path
	for p.pos < len(p.text) {
		var e Element
		var err *SyntaxError
		switch c := p.peek(); {
		case c == '[':
			p.pos++
			e, err = p.item()
		case c == '.':
			p.pos++
			fallthrough
		case p.pos == 0:
			var name string
			name, err = p.pathName(".[")
			e = Field(name)
		default:
			err = p.unexpected("a dot or '['")
		}
		if err != nil {
			return nil, err
		}
		path = append(path, e)
	}
	return path, nil
}

// pathName reads a name in quotes, or a bare one up to a byte of ends or the end.
func (p *pathParser) pathName(ends string) (string, *SyntaxError) {
	if p.peek() == '"' {
		return p.quoted()
	}
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(ends, p.text[p.pos]) < 0 {
		if c := p.text[p.pos]; c == '"' || c == ']' {
			return "", p.unexpected("a name; put it in double quotes if it has this character")
		}
		p.pos++
	}
	if start == p.pos {
		return "", p.unexpected("a name")
	}
	return p.text[start:p.pos], nil
}

// item reads what stands between brackets, and the closing one.
func (p *pathParser) item() (e Element, err *SyntaxError) {
	rest := p.text[p.pos:]
	switch {
	case rest == "":
		return e, p.unexpected("an index, a key or a value")
	case rest[0] == '=':
		p.pos++
		m := &p.elements.maker
		if m.scratch, err = p.bracketValue(m.scratch[:0]); err == nil {
			e = Element{KindItem, m.cut(m.scratch)}
		}
	case rest[0] == '-' || '0' <= rest[0] && rest[0] <= '9':
		if end := strings.IndexAny(rest, "]=,\""); end >= 0 && rest[end] == '=' {
			e, err = p.key()
		} else {
			e, err = p.index()
		}
	default:
		e, err = p.key()
	}
	if err != nil {
		return Element{}, err
	}
	if p.peek() != ']' {
		return Element{}, p.unexpected("']'")
	}
	p.pos++
	return e, nil
}

// index reads a decimal integer.
func (p *pathParser) index() (Element, *SyntaxError) {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if !p.digits() {
		return Element{}, p.unexpected("a digit")
	}
	i, err := strconv.Atoi(p.text[start:p.pos])
	if err != nil {
		p.pos = start
		return Element{}, p.fail("index overflows an int")
	}
	return Index(i), nil
}

// key reads the fields of a key, each a name, '=' and a value, with commas between them.
func (p *pathParser) key() (Element, *SyntaxError) {
	m := &p.elements.maker
	b := m.scratch[:0]
	var members []member
	for more := p.peek() != ']'; more; {
		name, err := p.pathName("=,")
		if err != nil {
			return Element{}, err
		}
		if p.peek() != '=' {
			return Element{}, p.unexpected("'='")
		}
		p.pos++
		start := len(b)
		if b, err = p.bracketValue(appendText(b, name)); err != nil {
			return Element{}, err
		}
		members = append(members, member{name, start, len(b)})
		if more = p.peek() == ','; more {
			p.pos++
		}
	}
	slices.SortStableFunc(members, compareMembers)
	m.scratch = rearrange(b, 0, members)
	return Element{KindKey, m.cut(m.scratch)}, nil
}

// bracketValue appends the encoding of the value at pos.
func (p *pathParser) bracketValue(b []byte) ([]byte, *SyntaxError) {
	if p.peek() != '"' {
		return p.value(b)
	}
	s, err := p.quoted()
	return appendText(append(b, tagString), s), err
}

// quoted reads a string in double quotes, as JSON or, where it is no JSON, as Go.
func (p *pathParser) quoted() (string, *SyntaxError) {
	start := p.pos
	s, err := p.str()
	if err == nil {
		return s, nil
	}
	quoted, goErr := strconv.QuotedPrefix(p.text[start:])
	if goErr != nil {
		return "", err
	}
	if s, goErr = strconv.Unquote(quoted); goErr != nil {
		return "", err
	}
	p.pos = start + len(quoted)
	return s, nil
}
