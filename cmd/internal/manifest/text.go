package manifest

import (
	"bytes"
	"slices"

	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Text is the content of one file.
type Text struct {
	Name      string // for messages
	path      string // the path of the file; empty for standard input
	Data      []byte
	repeating bool    // whether a name may occur several times in an object
	Parts     []*part // together the text; set by parse, at least one
}

// TextOf returns the text of an object that comes from no file, as kubectl prints it. name is for messages.
func TextOf(name string, object value.Value) *Text {
	return &Text{Name: name, Data: yaml.Append(nil, object)}
}

// part is a part of a text: one document, all documents, or an item of a document that is a list.
type part struct {
	Text  *Text
	above int // the number of lines above it
	left  int // the number of characters to the left of its first line
	data  []byte
	frame *frame // the frame of an item; nil for documents
	item  int    // the index of the item
	Docs  []yaml.Document
	Err   error // why there are no Docs
}

// largeText is the size in bytes from which on the documents of a text are parsed separately, several concurrently.
var largeText = 64 << 10

// Parse parses texts as a whole. If that fails, it parses each document, so that a defective document does not hide others. It parses large
// texts by document first, which gives the same result for texts without a defect.
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

// isBracket reports whether text begins like JSON.
func isBracket(text []byte) bool {
	rest := bytes.TrimLeft(text, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

func (p *part) parse() { p.Docs, p.Err = p.Text.parse(p.data) }

// parse parses data, a part of t.
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

// settle divides a text with defects: it is one part if it can be parsed as a whole, and else one part for each document.
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

// inPlace returns err, the error of parsing p, with the lines and columns of the file.
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
