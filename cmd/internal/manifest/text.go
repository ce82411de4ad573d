package manifest

import (
	"bytes"
	"slices"

	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/internal/yaml"
)

// Text is what one file holds.
type Text struct {
	Name      string // for messages
	path      string // of the file; empty for standard input
	Data      []byte
	repeating bool    // whether objects may have a name several times
	Parts     []*part // together data; set by parse, at least one
}

// part is a part of a text: one document or all of them, or an item of a document that is a list.
type part struct {
	Text  *Text
	above int // how many lines are above it
	left  int // how many characters are left of it in its first line
	data  []byte
	frame *frame // of an item; nil for documents
	item  int    // which of the frame's items it is
	Docs  []yaml.Document
	Err   error // why there are no docs
}

// largeText is the size from which on the documents of a text are parsed each for itself, several
// at a time.
var largeText = 64 << 10

// Parse parses texts: as a whole, and document by document if that fails, so that a defective
// document does not hide others. Large texts go the other way round, as the outcome is the same for
// all texts without a defect.
func (c *Loader) Parse(texts []*Text) {
	tick, done := c.Progress("reading")
	for range jobs.Map(c.Jobs, slices.Values(texts), func(t *Text) struct{} { t.parseAll(); return struct{}{} }) {
		tick()
	}
	done()
}

// parseAll is Parse for one text.
func (t *Text) parseAll() {
	t.Parts = []*part{{Text: t, data: t.Data}}
	if len(t.Data) >= largeText && !isBracket(t.Data) {
		t.Parts = t.split()
	}
	for _, p := range t.Parts {
		p.parse()
	}
	t.settle()
}

// isBracket reports whether text begins as JSON does.
func isBracket(text []byte) bool {
	rest := bytes.TrimLeft(text, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

func (p *part) parse() { p.Docs, p.Err = p.Text.parse(p.data) }

// parse parses data, which is a part of t.
func (t *Text) parse(data []byte) ([]yaml.Document, error) {
	if t.repeating {
		return yaml.ParseRepeating(t.Name, data)
	}
	return yaml.Parse(t.Name, data)
}

func (t *Text) failed() bool {
	for _, p := range t.Parts {
		if p.Err != nil {
			return true
		}
	}
	return false
}

// settle decides how a text with defects is divided: not at all if it can be read as a whole, and
// else by document.
func (t *Text) settle() {
	if !t.failed() {
		return
	}
	split := t.Parts
	if len(split) > 1 {
		whole := &part{Text: t, data: t.Data}
		if whole.parse(); whole.Err == nil {
			t.Parts = []*part{whole}
			return
		}
	} else if split = t.split(); len(split) > 1 {
		for _, p := range split {
			p.parse()
		}
		t.Parts = split
	}
	for _, p := range t.Parts {
		if p.Err != nil {
			p.Err = p.inPlace(p.Err)
		}
	}
}

// inPlace returns why p cannot be read, which is err, with the lines and columns that the file has.
func (p *part) inPlace(err error) error {
	if p.above == 0 && p.left == 0 {
		return err
	}
	room := append(bytes.Repeat([]byte("\n"), p.above), bytes.Repeat([]byte(" "), p.left)...)
	_, err = p.Text.parse(append(room, p.data...))
	return err
}

// split cuts a stream of YAML in front of each line that begins a document.
func (t *Text) split() []*part {
	var parts []*part
	start, above, lines := 0, 0, 0
	for offset := 0; offset < len(t.Data); lines++ {
		line := t.Data[offset:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if offset > 0 && beginsDocument(line) {
			parts = append(parts, &part{Text: t, above: above, data: t.Data[start:offset]})
			start, above = offset, lines
		}
		offset += len(line)
	}
	return append(parts, &part{Text: t, above: above, data: t.Data[start:]})
}

func beginsDocument(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
