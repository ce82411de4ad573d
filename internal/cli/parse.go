package cli

import (
	"bytes"

	"github.com/deed-project/deed/internal/yaml"
)

// text is what one file holds.
type text struct {
	name      string // for messages
	path      string // of the file; empty for standard input
	data      []byte
	repeating bool    // whether objects may have a name several times
	parts     []*part // together data; set by parse, at least one
}

// part is a part of a text: one document or all of them.
type part struct {
	text  *text
	above int // how many lines are above it
	data  []byte
	docs  []yaml.Document
	err   error // why there are no docs
}

// largeText is the size from which on the documents of a text are parsed each for itself, several at a time.
const largeText = 64 << 10

// parse parses texts: as a whole, and document by document if that fails, so that a defective document does not hide others.
// Large texts go the other way round, as the outcome is the same for all texts without a defect.
func (c *loader) parse(texts []*text) {
	var parts []*part
	for _, t := range texts {
		t.parts = []*part{{text: t, data: t.data}}
		if len(t.data) >= largeText && !isBracket(t.data) {
			t.parts = t.split()
		}
		parts = append(parts, t.parts...)
	}
	tick, done := c.progress("reading")
	for range inOrder(c.jobs, len(parts), func(i int) struct{} { parts[i].parse(); return struct{}{} }) {
		tick()
	}
	done()
	for _, t := range texts {
		t.settle()
	}
}

// isBracket reports whether text begins as JSON does.
func isBracket(text []byte) bool {
	rest := bytes.TrimLeft(text, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

func (p *part) parse() { p.docs, p.err = p.text.parse(p.data) }

// parse parses data, which is a part of t.
func (t *text) parse(data []byte) ([]yaml.Document, error) {
	if t.repeating {
		return yaml.ParseRepeating(t.name, data)
	}
	return yaml.Parse(t.name, data)
}

func (t *text) failed() bool {
	for _, p := range t.parts {
		if p.err != nil {
			return true
		}
	}
	return false
}

// settle decides how a text with defects is divided: not at all if it can be read as a whole, and else by document.
func (t *text) settle() {
	if !t.failed() {
		return
	}
	split := t.parts
	if len(split) > 1 {
		whole := &part{text: t, data: t.data}
		if whole.parse(); whole.err == nil {
			t.parts = []*part{whole}
			return
		}
	} else if split = t.split(); len(split) > 1 {
		for _, p := range split {
			p.parse()
		}
		t.parts = split
	}
	for _, p := range t.parts {
		if p.err != nil && p.above > 0 {
			p.err = p.inPlace()
		}
	}
}

// inPlace returns why p cannot be read, with the lines that the file has.
func (p *part) inPlace() error {
	_, err := p.text.parse(append(bytes.Repeat([]byte("\n"), p.above), p.data...))
	return err
}

// split cuts a stream of YAML in front of each line that begins a document.
func (t *text) split() []*part {
	var parts []*part
	start, above, lines := 0, 0, 0
	for offset := 0; offset < len(t.data); lines++ {
		line := t.data[offset:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if offset > 0 && beginsDocument(line) {
			parts = append(parts, &part{text: t, above: above, data: t.data[start:offset]})
			start, above = offset, lines
		}
		offset += len(line)
	}
	return append(parts, &part{text: t, above: above, data: t.data[start:]})
}

func beginsDocument(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
