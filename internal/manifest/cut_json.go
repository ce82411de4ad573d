package manifest

import (
	"bytes"

	"github.com/deed-project/deed/internal/yaml"
)

// cutJSON is cut for JSON: one text after the other, and the items of those that are lists. It returns nil for what does not
// look like JSON.
func (t *Text) cutJSON() []*part {
	s := jsonScanner{data: t.Data}
	var parts []*part
	for s.space(); s.at < len(s.data); s.space() {
		start := s.at
		items, ok := s.text()
		if !ok {
			return nil
		}
		parts = append(parts, t.jsonParts(start, s.at, items)...)
	}
	return parts
}

// span is a piece of a text.
type span struct{ start, end int }

// jsonParts returns the parts of the JSON text from start to end, whose member "items" consists of items.
func (t *Text) jsonParts(start, end int, items []span) []*part {
	var c counter
	whole := c.part(t, span{start, end})
	if len(items) == 0 {
		return []*part{whole}
	}
	outside := append(bytes.Clone(t.Data[start:items[0].start]), t.Data[items[len(items)-1].end:end]...)
	docs, err := yaml.Parse("", outside)
	if err != nil || len(docs) != 1 || !isList(docs[0].Value) {
		return []*part{whole}
	}
	f := &frame{doc: whole, value: docs[0].Value, items: len(items)}
	parts := make([]*part, len(items))
	for i, item := range items {
		parts[i] = c.part(t, item)
		parts[i].frame, parts[i].item = f, i
	}
	return parts
}

// counter counts lines and columns of positions that come in ascending order.
type counter struct{ at, line, column int }

// part returns what is in s as a part.
func (c *counter) part(t *Text, s span) *part {
	for ; c.at < s.start; c.at++ {
		switch b := t.Data[c.at]; {
		case b == '\n':
			c.line, c.column = c.line+1, 0
		case b&0xc0 != 0x80: // not inside a character
			c.column++
		}
	}
	return &part{Text: t, above: c.line, left: c.column, data: t.Data[s.start:s.end]}
}

// jsonScanner finds where JSON values begin and end. It takes much for JSON that is none: what it finds is parsed afterwards.
type jsonScanner struct {
	data []byte
	at   int
}

func (s *jsonScanner) space() {
	for s.at < len(s.data) && bytes.IndexByte([]byte(" \t\r\n"), s.data[s.at]) >= 0 {
		s.at++
	}
}

// take passes over b.
func (s *jsonScanner) take(b byte) bool {
	s.space()
	if s.at == len(s.data) || s.data[s.at] != b {
		return false
	}
	s.at++
	return true
}

// text passes over an object, and returns the items of its only member that is called items, if that is a list.
func (s *jsonScanner) text() (items []span, ok bool) {
	if !s.take('{') {
		return nil, s.value()
	}
	several := false
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return nil, false
		}
		s.space()
		name := s.at
		if !s.value() || s.data[name] != '"' {
			return nil, false
		}
		isItems := string(s.data[name:s.at]) == `"items"`
		if !s.take(':') {
			return nil, false
		}
		if !isItems || !s.take('[') {
			if !s.value() {
				return nil, false
			}
			continue
		}
		several = several || items != nil
		if items, ok = s.items(); !ok {
			return nil, false
		}
	}
	if several {
		items = nil
	}
	return items, true
}

// items passes over the items of a list, whose bracket is passed already.
func (s *jsonScanner) items() (items []span, ok bool) {
	for !s.take(']') {
		if len(items) > 0 && !s.take(',') {
			return nil, false
		}
		s.space()
		start := s.at
		if !s.value() {
			return nil, false
		}
		items = append(items, span{start, s.at})
	}
	return items, true
}

// value passes over any value.
func (s *jsonScanner) value() bool {
	s.space()
	start, depth := s.at, 0
	for s.at < len(s.data) {
		switch b := s.data[s.at]; b {
		case '"':
			if !s.string() {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return s.at > start
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.at > start
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return true
		}
	}
	return s.at > start && depth == 0
}

// string passes over a string.
func (s *jsonScanner) string() bool {
	for s.at++; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		}
	}
	return false
}
