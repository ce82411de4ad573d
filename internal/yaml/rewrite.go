package yaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/value"
)

// Replacement is a document with its new value.
type Replacement struct {
	Document Document
	Value    value.Value
}

// ErrText says that a text can be parsed but not rewritten.
var ErrText = errors.New("the file is not UTF-8 with line ends LF or CRLF, or has a byte order mark inside")

// rewritable reports whether text is UTF-8 and its lines are those of the scanner.
func rewritable(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return false
	}
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) {
		return false
	}
	for _, odd := range []string{"\u0085", "\u2028", "\u2029", "\n\ufeff"} {
		if bytes.Contains(text, []byte(odd)) {
			return false
		}
	}
	return true
}

// Rewrite returns data with some documents replaced. The documents must come from parsing data, be in the order of the text, and be
// distinct.
//
//  1. All other text stays byte for byte.
//  2. Within a YAML document, unchanged members and items keep their text and comments, and members keep their order. New members
//     go where kubectl would print them. The comments beside and above a removed member or item are removed too, except those above
//     the first of its block.
//  3. A JSON document is printed anew with its indentation.
//  4. If the edited text does not have the new value, the document is printed anew without its comments. This happens if an alias
//     has a changed value. reprinted has the indexes of these replacements.
//
// Parsing the outcome gives the new values.
func Rewrite(data []byte, replacements ...Replacement) (text []byte, reprinted []int, err error) {
	if !rewritable(data) {
		return nil, nil, ErrText
	}
	body, hasMark := bytes.CutPrefix(data, []byte("\ufeff"))
	if hasMark {
		text = append(text, "\ufeff"...)
	}
	l := newLayout(body)
	end := 0
	for i, r := range replacements {
		from, to, ok := l.region(r.Document)
		if !ok || from < end {
			return nil, nil, fmt.Errorf("document %d of those to replace is not in the text, or not in order", i)
		}
		text = append(text, l.data[end:from]...)
		part, kept := l.rewrite(r, from, to)
		if !kept {
			reprinted = append(reprinted, i)
		}
		text = append(text, part...)
		end = to
	}
	text = append(text, l.data[end:]...)
	if shorter := bytes.TrimSuffix(text, []byte("\n")); !bytes.HasSuffix(body, []byte("\n")) && sameDocuments(shorter, text) {
		text = shorter
	}
	return text, reprinted, nil
}

// sameDocuments reports whether two texts have the same values. A line end may belong to the last value.
func sameDocuments(a, b []byte) bool {
	docs, err := Parse("", a)
	if err != nil {
		return false
	}
	others, err := Parse("", b)
	return err == nil && slices.EqualFunc(docs, others, func(a, b Document) bool { return a.Value.Equal(b.Value) })
}

// layout is a text with the starts of its lines. Each line ends with a line end.
type layout struct {
	data   []byte
	starts []int // of the lines, and finally the length of the text
	breaks string
}

func newLayout(data []byte) *layout {
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data[:len(data):len(data)], '\n')
	}
	l := &layout{data: data, breaks: "\n"}
	if bytes.Contains(data, []byte("\r\n")) {
		l.breaks = "\r\n"
	}
	for offset := 0; offset < len(data); {
		l.starts = append(l.starts, offset)
		offset += bytes.IndexByte(data[offset:], '\n') + 1
	}
	l.starts = append(l.starts, len(data))
	return l
}

// lines returns the number of lines.
func (l *layout) lines() int { return len(l.starts) - 1 }

// line returns the zero-based line i with its end.
func (l *layout) line(i int) []byte { return l.data[l.starts[i]:l.starts[i+1]] }

// region returns the start and end of the text of d, and whether they are valid.
func (l *layout) region(d Document) (from, to int, ok bool) {
	switch src := d.source.(type) {
	case *jsonSource:
		from = src.start
		if from > len(l.data) {
			return 0, 0, false
		}
		var raw json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(l.data[from:])).Decode(&raw); err != nil {
			return 0, 0, false
		}
		return from, from + len(raw), true
	case *nodeSource:
		first := src.at.line - 1
		if first < 0 || first >= l.lines() {
			return 0, 0, false
		}
		from = l.starts[first]
		if marker(l.line(first)) {
			from += len("---")
		}
		end := first + 1
		for end < l.lines() && !marker(l.line(end)) {
			end++
		}
		return from, l.starts[end], true
	}
	return 0, 0, false
}

// marker reports whether line begins or ends a document.
func marker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}

// rewrite returns the new text for the region [from, to), and whether that text keeps the comments.
func (l *layout) rewrite(r Replacement, from, to int) (text []byte, kept bool) {
	if r.Document.Value.Equal(r.Value) {
		return l.data[from:to], true
	}
	src, ok := r.Document.source.(*nodeSource)
	if !ok {
		return reprintJSON(l.data[from:to], r.Value), true
	}
	e := &editor{layout: l, from: from, to: to}
	if text, ok := e.edit(src.tree(), r.Document.Value, r.Value); ok {
		docs, err := parse(text, false)
		if err == nil && len(docs) == 1 && docs[0].Value.Equal(r.Value) {
			return text, true
		}
	}
	if from > 0 && l.data[from-1] != '\n' { // after ---
		text = append(text[:0:0], l.breaks...)
	} else {
		text = text[:0:0]
	}
	return append(text, l.withBreaks(Append(nil, r.Value))...), false
}

// withBreaks returns printed text with the line ends of the whole text.
func (l *layout) withBreaks(text []byte) []byte {
	if l.breaks == "\n" {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte(l.breaks))
}

// reprintJSON returns v as JSON, on one line or with the indentation of old.
func reprintJSON(old []byte, v value.Value) []byte {
	text := v.AppendJSON(nil)
	_, rest, found := bytes.Cut(old, []byte("\n"))
	if !found {
		return text
	}
	indent := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", string(indent)); err != nil {
		return text
	}
	return out.Bytes()
}

// span is a part of the text and its replacement.
type span struct {
	from, to int
	text     []byte
}

// splice returns the text between from and to with the spans replaced. It returns false if two spans overlap.
func (l *layout) splice(from, to int, spans []span) ([]byte, bool) {
	order := make([]uint64, len(spans)) // where a span begins, then whether it replaces text, then its index
	for i, s := range spans {
		order[i] = uint64(s.from)<<33 | uint64(min(s.to-s.from, 1))<<32 | uint64(i)
	}
	slices.Sort(order)
	var out []byte
	for _, key := range order {
		s := spans[uint32(key)]
		if s.from < from || s.to > to || s.to < s.from {
			return nil, false
		}
		out = append(out, l.data[from:s.from]...)
		out = append(out, s.text...)
		from = s.to
	}
	return append(out, l.data[from:to]...), true
}
