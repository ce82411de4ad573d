package manifest

import (
	"bytes"

	"github.com/deed-project/deed/internal/yaml"
)

// cut divides a text into parts that are parsed one by one, so that only the parts in progress are in memory:
//
//	apiVersion: v1        the frame of a list, which is parsed
//	items:                without the items, and says what they are
//	- kind: ConfigMap     one part: the list of one item
//	  metadata: ...
//	- kind: Secret        another
//	kind: List            the frame again
//	---                   another document is a part, whatever it is
//	kind: Pod
//
// cut works on lines. It agrees with YAML because only the keys of a block mapping begin in its column or in front of it. If a text does
// not clearly have this form, for instance because of directives, the whole text is one part.
//
// Invariants: the parts and the frames together are the text; each part begins a line, or is the item of a JSON list.
func (t *Text) cut() []*part {
	if isBracket(t.Data) {
		if parts := t.cutJSON(); parts != nil {
			return parts
		}
		return []*part{{Text: t, data: t.Data}}
	}
	if hasDirective(t.Data) || bytes.HasPrefix(t.Data, []byte("\xfe\xff")) || bytes.HasPrefix(t.Data, []byte("\xff\xfe")) {
		return []*part{{Text: t, data: t.Data}}
	}
	var parts []*part
	for _, p := range t.split() {
		if hasContent(p.data) {
			parts = append(parts, p.cutItems()...)
		}
	}
	return parts
}

// HasContent reports whether t has more than white space, comments, markers and null documents.
func (t *Text) HasContent() bool {
	for line := range bytes.Lines(t.Data) {
		line, _ = bytes.CutPrefix(bytes.TrimSpace(line), []byte("---"))
		line, _, _ = bytes.Cut(line, []byte(" #"))
		switch line = bytes.TrimSpace(line); string(line) {
		case "", "...", "~", "null", "Null", "NULL":
		default:
			if line[0] != '#' {
				return true
			}
		}
	}
	return false
}

// hasDirective reports whether a line of text may be a directive for the next document.
func hasDirective(text []byte) bool {
	return bytes.HasPrefix(text, []byte("%")) || bytes.Contains(text, []byte("\n%"))
}

// hasContent reports whether a document has a line that is neither a comment nor a marker.
func hasContent(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) && !bytes.Equal(line, []byte("...")) {
			return true
		}
	}
	return false
}

// cutItems returns the items of p, a YAML document, if p is a list in block style, and else p itself.
func (p *part) cutItems() []*part {
	head, items, tail := blockItems(p.data)
	if len(items) == 0 {
		return []*part{p}
	}
	outside := append(bytes.Clone(p.data[:head]), p.data[tail:]...)
	docs, err := yaml.Parse("", outside)
	if err != nil || len(docs) != 1 || !isList(docs[0].Value) || !docs[0].Value.Get("items").IsNull() {
		return []*part{p}
	}
	f := &frame{doc: p, value: docs[0].Value, items: len(items)}
	parts := make([]*part, len(items))
	above, from := p.above, 0
	for i, start := range items {
		end := tail
		if i+1 < len(items) {
			end = items[i+1]
		}
		above += bytes.Count(p.data[from:start], []byte("\n"))
		parts[i] = &part{Text: p.Text, above: above, data: p.data[start:end], frame: f, item: i}
		from = start
	}
	return parts
}

// blockItems finds the items of a document with a line "items:" in the first column and a block sequence below it. head is the start of the
// first item, items the start of each, and tail the end of the last. It returns no items if there is no such line, or more than one.
func blockItems(data []byte) (head int, items []int, tail int) {
	const outside, first, inside = 0, 1, 2
	state, indent, tail := outside, 0, len(data)
	for offset := 0; offset < len(data); {
		line := data[offset:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		text := bytes.TrimRight(line, " \t\r\n")
		column := len(text) - len(bytes.TrimLeft(text, " "))
		blank := column == len(text) || text[column] == '#'
		begins := !blank && text[column] == '-' && (len(text) == column+1 || text[column+1] == ' ')
		switch {
		case state == outside && string(text) == "items:":
			if items != nil {
				return 0, nil, 0
			}
			state = first
		case state == first && !blank:
			if !begins {
				return 0, nil, 0
			}
			state, head, indent, items = inside, offset, column, []int{offset}
		case state == inside && begins && column == indent:
			items = append(items, offset)
		case state == inside && !blank && column <= indent:
			state, tail = outside, offset
		}
		offset += len(line)
	}
	return head, items, tail
}
