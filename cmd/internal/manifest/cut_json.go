package manifest

import (
	"bytes"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/internal/yaml"
)

// cutJSON is cut for JSON: it divides the text into JSON values, and lists into items. It returns nil if the text does not look like JSON.
func (t *Text) cutJSON() []*part {
	r := jsontext.Skim(t.Data)
	c := counter{text: t}
	var parts []*part
	for r.Space(); r.Pos < len(r.Text); r.Space() {
		start := r.Pos
		items, ok := jsonItems(&r)
		if !ok {
			return nil
		}
		parts = append(parts, c.jsonParts(span{start, r.Pos}, items)...)
	}
	return parts
}

// span is a section of a text.
type span struct{ start, end int }

// counter counts the lines and columns of a text up to ascending positions.
type counter struct {
	text             *Text
	at, line, column int
}

// jsonParts returns the parts of the JSON value s, whose member "items" has the given items.
func (c *counter) jsonParts(s span, items []span) []*part {
	whole := c.part(s)
	if len(items) == 0 {
		return []*part{whole}
	}
	data := c.text.Data
	outside := append(bytes.Clone(data[s.start:items[0].start]), data[items[len(items)-1].end:s.end]...)
	docs, err := yaml.Parse("", outside)
	if err != nil || len(docs) != 1 || !isList(docs[0].Value) {
		return []*part{whole}
	}
	f := &frame{doc: whole, value: docs[0].Value, items: len(items)}
	parts := make([]*part, len(items))
	for i, item := range items {
		parts[i] = c.part(item)
		parts[i].frame, parts[i].item = f, i
	}
	return parts
}

// part returns the part that covers s.
func (c *counter) part(s span) *part {
	work.Add(work.Counts{Bytes: s.start - c.at})
	for ; c.at < s.start; c.at++ {
		switch b := c.text.Data[c.at]; {
		case b == '\n':
			c.line, c.column = c.line+1, 0
		case b&0xc0 != 0x80: // not inside a character
			c.column++
		}
	}
	return &part{Text: c.text, above: c.line, left: c.column, data: c.text.Data[s.start:s.end]}
}

// jsonItems skips the value at the position. It returns the items of its member items, if there is exactly one such member and it is a
// list.
func jsonItems(r *jsontext.Scanner) (items []span, ok bool) {
	if r.Space(); r.Text[r.Pos] != '{' {
		return nil, r.Skip() == nil
	}
	lists := 0
	ok = r.Members(func(start, end int) bool {
		if r.Text[start:end] != `"items"` || r.Peek() != '[' {
			return r.Skip() == nil
		}
		lists++
		items = nil
		return r.Items(func() bool {
			start := r.Pos
			passed := r.Skip() == nil
			items = append(items, span{start, r.Pos})
			return passed
		})
	})
	if lists > 1 {
		items = nil
	}
	return items, ok
}
