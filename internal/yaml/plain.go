package yaml

import (
	"bytes"
	"strings"

	"github.com/deed-project/deed/value"
)

// plainReader parses a document in the simple form that programs print, directly into a value. The form is a block of members or items,
// where
//
//   - a name is plain, or in quotes without escapes, and stands in one line with its colon
//   - a scalar is written like a name, or is [] or {}, or a literal block (| or |-) without lines of spaces
//   - there are no comments, tags, anchors, merges, tabs, line ends other than LF, or spaces at the end of lines
//   - no name is repeated
//
// For any other text it gives up, and the caller scans the document into nodes. A text that it accepts is also a document for the scanner,
// with the same value and place: FuzzPlain and TestPlain compare the two.
//
// Cost: linear in the length of the text. It holds one copy of the text, which its strings share.
//
// Invariants: line is the rest of the current line from the column indent on, and it is empty only when done; rest is the text after that
// line.
type plainReader struct {
	rest   string
	line   string
	indent int
	number int  // one-based number of the line
	done   bool // no line is left
	failed bool // the text does not have the simple form
	depth  int
}

// Bounds of the simple form.
const (
	plainDepth = 500 // nesting of lists and objects
	plainKey   = 500 // bytes; a longer key needs a ? before it
)

// readPlain returns the document in text, or false if text does not have the simple form.
func readPlain(text []byte) (Document, bool) {
	if !isPlainText(text) {
		return Document{}, false
	}
	r := &plainReader{rest: string(text)}
	if r.advance(); !r.done && r.indent == 0 && r.line == "---" {
		r.advance()
	}
	if r.done {
		return Document{}, false
	}
	at := position{r.number, r.indent + 1}
	v := r.block()
	if r.failed || !r.done {
		return Document{}, false
	}
	return Document{Value: v, Line: at.line, source: &nodeSource{at: at, text: text}}, true
}

// isPlainText reports whether text has only bytes of the simple form.
func isPlainText(text []byte) bool {
	if !bytes.HasSuffix(text, []byte("\n")) || text[0] >= 0xfe {
		return false
	}
	for _, odd := range []string{"\t", "\r", " \n", "\u0085", "\u2028", "\u2029", "\ufeff"} {
		if bytes.Contains(text, []byte(odd)) {
			return false
		}
	}
	return true
}

// fail marks the text as not simple.
func (r *plainReader) fail() value.Value {
	r.failed, r.done, r.line = true, true, ""
	return value.Value{}
}

// next removes one line from rest and returns it without its end.
func (r *plainReader) next() string {
	end := strings.IndexByte(r.rest, '\n')
	line := r.rest[:end]
	r.rest = r.rest[end+1:]
	r.number++
	return line
}

// advance moves to the next line that is not empty.
func (r *plainReader) advance() {
	for r.rest != "" {
		line := r.next()
		if line == "" {
			continue
		}
		r.line = strings.TrimLeft(line, " ")
		r.indent = len(line) - len(r.line)
		marker := r.indent == 0 && (strings.HasPrefix(line, "---") || strings.HasPrefix(line, "..."))
		if r.line[0] == '#' || marker && (r.number > 1 || line != "---") {
			r.fail()
		}
		return
	}
	r.done, r.line = true, ""
}

func (r *plainReader) beginsItem() bool { return r.line == "-" || strings.HasPrefix(r.line, "- ") }

// block parses the list or object at the current line.
func (r *plainReader) block() value.Value {
	if r.depth++; r.depth > plainDepth {
		return r.fail()
	}
	defer func() { r.depth-- }()
	if r.beginsItem() {
		return r.list()
	}
	return r.object()
}

// list parses the items that begin at the current column.
func (r *plainReader) list() value.Value {
	column := r.indent
	var items []value.Value
	for !r.done && r.indent == column && r.beginsItem() {
		items = append(items, r.item(column))
		if !r.done && r.indent > column {
			return r.fail()
		}
	}
	return value.List(items...)
}

// item parses the item whose dash is at column.
func (r *plainReader) item(column int) value.Value {
	if r.line == "-" {
		return r.below(column)
	}
	content := strings.TrimLeft(r.line[1:], " ")
	r.indent += len(r.line) - len(content)
	r.line = content
	if r.beginsItem() {
		return r.block()
	}
	if _, _, isKey := r.key(); isKey {
		return r.block()
	}
	return r.scalar(content, column)
}

// below parses the lines below a dash or key at column: a deeper block, or nothing, which is null.
func (r *plainReader) below(column int) value.Value {
	if r.advance(); !r.done && r.indent > column {
		return r.block()
	}
	return value.Null()
}

// object parses the members that begin at the current column.
func (r *plainReader) object() value.Value {
	column, sorted := r.indent, true
	var members []value.Member
	for !r.done && r.indent == column && !r.beginsItem() {
		name, rest, ok := r.key()
		if !ok {
			return r.fail()
		}
		v := r.member(rest, column)
		if !r.done && r.indent > column {
			return r.fail()
		}
		sorted = sorted && (len(members) == 0 || members[len(members)-1].Name < name)
		members = append(members, value.Member{Name: name, Value: v})
	}
	if !sorted && repeats(members) {
		return r.fail()
	}
	return value.Object(members...)
}

// member parses the value of a key at column. rest is the text after the key in its line.
func (r *plainReader) member(rest string, column int) value.Value {
	if rest != "" {
		return r.scalar(rest, column)
	}
	v := r.below(column)
	if !r.done && r.indent == column && r.beginsItem() && v.IsNull() {
		return r.block() // the items of a list may have the column of its name
	}
	return v
}

// repeats reports whether two members have the same name.
func repeats(members []value.Member) bool {
	names := make(map[string]bool, len(members))
	for _, m := range members {
		names[m.Name] = true
	}
	return len(names) < len(members)
}

// key returns the name at the start of the current line, and the text after its colon. It does not advance.
func (r *plainReader) key() (name, rest string, ok bool) {
	text, rest, quoted, ok := r.quoted(r.line)
	if !quoted {
		if text, rest, ok = strings.Cut(r.line, ": "); !ok {
			text, ok = strings.CutSuffix(r.line, ":")
		} else {
			rest = ": " + rest
		}
		ok = ok && isPlainScalar(text) && text != "<<"
	}
	after, colon := strings.CutPrefix(rest, ":")
	switch {
	case !ok, len(text) > plainKey, quoted && !colon, after != "" && after[0] != ' ':
		return "", "", false
	case quoted:
		return text, strings.TrimLeft(after, " "), true
	}
	name, reason := toName(resolve(text))
	return name, strings.TrimLeft(after, " "), reason == ""
}

// quoted returns the text in the quotes at the start of line, and the text after them. It returns false for an escape or a missing end.
func (r *plainReader) quoted(line string) (text, rest string, quoted, ok bool) {
	switch line[0] {
	case '"':
		text, rest, ok = strings.Cut(line[1:], `"`)
		return text, rest, true, ok && !strings.Contains(text, `\`)
	case '\'':
		text, rest, ok = strings.Cut(line[1:], `'`)
		return text, rest, true, ok && !strings.HasPrefix(rest, `'`)
	}
	return "", "", false, true
}

// scalar parses a scalar that begins with text, the rest of the current line. column is the column of its key or dash.
func (r *plainReader) scalar(text string, column int) value.Value {
	if text == "|" || text == "|-" {
		return r.literal(text, column)
	}
	v := r.flat(text)
	if r.failed {
		return v
	}
	if r.advance(); !r.done && r.indent > column {
		return r.fail() // the scalar continues on the next line
	}
	return v
}

// flat returns the scalar of text.
func (r *plainReader) flat(text string) value.Value {
	switch text {
	case "[]":
		return value.List()
	case "{}":
		return value.Object()
	}
	s, rest, quoted, ok := r.quoted(text)
	switch {
	case !ok || rest != "":
		return r.fail()
	case quoted:
		return value.String(s)
	case !isPlainScalar(text) || strings.Contains(text, ": "):
		return r.fail()
	}
	v, reason := toValue(resolve(text))
	if reason != "" {
		return r.fail()
	}
	return v
}

// isPlainScalar reports whether text, which is not empty, can only be an unquoted scalar, or a part of one before a colon.
func isPlainScalar(text string) bool {
	if text == "" || strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", text[0]) >= 0 && !isNegative(text) {
		return false
	}
	last := text[len(text)-1]
	return last != ' ' && last != ':' && !strings.Contains(text, " #")
}

// isNegative reports whether text begins with a dash that does not begin an item.
func isNegative(text string) bool {
	return len(text) > 1 && text[0] == '-' && ('0' <= text[1] && text[1] <= '9' || text[1] == '.')
}

// literal parses the lines of a block below header. column is the column of the block's key or dash.
func (r *plainReader) literal(header string, column int) value.Value {
	var b strings.Builder
	indent, blank := 0, 0
	for r.rest != "" {
		line := r.rest[:strings.IndexByte(r.rest, '\n')]
		content := strings.TrimLeft(line, " ")
		depth := len(line) - len(content)
		if b.Len() == 0 && content != "" && content[0] != '#' {
			indent = depth
		}
		switch {
		case indent <= column || b.Len() == 0 && content == "":
			return r.fail() // the block may begin in another column
		case content == "":
			blank++
			r.next()
			continue
		case depth < indent:
			return r.endLiteral(&b, header)
		}
		for ; blank > 0; blank-- {
			b.WriteByte('\n')
		}
		b.WriteString(line[indent:])
		b.WriteByte('\n')
		r.next()
	}
	return r.endLiteral(&b, header)
}

// endLiteral returns the text of a literal block, and moves to the line after it.
func (r *plainReader) endLiteral(b *strings.Builder, header string) value.Value {
	text := b.String()
	if text == "" {
		return r.fail()
	}
	if header == "|-" {
		text = strings.TrimSuffix(text, "\n")
	}
	r.advance()
	return value.String(text)
}
