package yaml

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/deed-project/deed/value"
)

// Append appends v to b as one document in block style, byte for byte as kubectl -o yaml prints it. Names come in natural order, and each
// level is indented by two spaces. The items of a list are not indented below its name. Strings of several lines are blocks; other strings
// are quoted if necessary, and folded after column 80. b must be empty or end with a line end. The result has the same property.
//
// [Parse] decodes the result to a value that is Equal to v, with two exceptions: invalid UTF-8 becomes U+FFFD, and an absent part becomes
// null. Other YAML parsers read the same value. Append quotes every text that YAML 1.1 or 1.2 would not read as a string. kubectl does not
// quote a few rare texts, such as 1e400, <<, = and texts with Unicode line ends.
func Append(b []byte, v value.Value) []byte {
	p := printer{b: b}
	p.document(v)
	return p.b
}

// Write writes the text of [Append] to w in pieces. It holds at most one scalar and [flushed] bytes.
func Write(w io.Writer, v value.Value) error {
	p := printer{out: w}
	p.document(v)
	p.flush(0)
	return p.err
}

func (p *printer) document(v value.Value) {
	if isBlock(v) {
		p.inline(v, 0)
	} else {
		p.inline(v, indentStep)
	}
}

// indentStep is the indentation of a level.
const indentStep = 2

// printer appends to b. The column parameter of its functions is the column of an object's keys, of a list's dashes, or of a string's
// further lines.
type printer struct {
	b   []byte
	out io.Writer // receives b piece by piece; nil to keep all of it in b
	err error     // the first error of out
}

// flushed is the number of bytes in b above which printer writes them to out.
const flushed = 32 << 10

// flush writes b to out, if out is set and b has more than limit bytes. Unless limit is 0, it keeps the current line and the line end
// before it, because they decide how a string continues.
func (p *printer) flush(limit int) {
	if p.out == nil || len(p.b) <= limit {
		return
	}
	stay := len(p.b)
	if limit > 0 {
		stay = max(bytes.LastIndexByte(p.b, '\n'), 0)
	}
	if p.err == nil {
		_, p.err = p.out.Write(p.b[:stay])
	}
	p.b = append(p.b[:0], p.b[stay:]...)
}

// isBlock reports whether v spans several lines: a list or object that is not empty.
func isBlock(v value.Value) bool { return v.Len() > 0 }

func (p *printer) pad(column int) {
	for range column {
		p.b = append(p.b, ' ')
	}
}

func (p *printer) endLine() {
	if n := len(p.b); n == 0 || p.b[n-1] != '\n' {
		p.b = append(p.b, '\n')
	}
}

// inline prints v and a line end. A list or object begins at the end of the current line, which is at column.
func (p *printer) inline(v value.Value, column int) {
	switch {
	case !isBlock(v):
		p.leaf(v, column)
		p.endLine()
	case v.Kind() == value.KindObject:
		p.object(v, column)
	default:
		p.list(v, column)
	}
}

func (p *printer) list(v value.Value, column int) {
	for i := range v.Len() {
		if i > 0 {
			p.pad(column)
		}
		p.flush(flushed)
		p.b = append(p.b, "- "...)
		item := v.Item(i)
		p.inline(item, column+indentStep)
	}
}

func (p *printer) object(v value.Value, column int) {
	members := make([]value.Member, v.Len())
	for i := range members {
		members[i] = v.Member(i)
	}
	slices.SortStableFunc(members, func(a, b value.Member) int { return compareNatural(a.Name, b.Name) })
	for i, m := range members {
		if i > 0 {
			p.pad(column)
		}
		p.flush(flushed)
		if isSimpleKey(m.Name) {
			p.str(m.Name, column+indentStep, true)
			p.b = append(p.b, ':')
			p.below(m.Value, column)
			continue
		}
		p.b = append(p.b, "? "...)
		p.str(m.Name, column+indentStep, false)
		p.endLine()
		p.pad(column)
		p.b = append(p.b, ": "...)
		p.inline(m.Value, column+indentStep)
	}
}

// below prints v, the value of a key at column.
func (p *printer) below(v value.Value, column int) {
	switch {
	case !isBlock(v):
		p.b = append(p.b, ' ')
	case v.Kind() == value.KindList:
		p.endLine()
		p.pad(column)
		p.list(v, column)
		return
	default:
		p.endLine()
		p.pad(column + indentStep)
	}
	p.inline(v, column+indentStep)
}

// leaf prints a value that is not a block.
func (p *printer) leaf(v value.Value, column int) {
	switch v.Kind() {
	case value.KindBool:
		p.b = strconv.AppendBool(p.b, v.Bool())
	case value.KindInt:
		p.b = strconv.AppendInt(p.b, v.Int(), 10)
	case value.KindFloat:
		p.b = appendFloat(p.b, v.Float())
	case value.KindString:
		p.str(v.Str(), column, false)
	case value.KindList:
		p.b = append(p.b, "[]"...)
	case value.KindObject:
		p.b = append(p.b, "{}"...)
	default:
		p.b = append(p.b, "null"...)
	}
}

// appendFloat appends f as an integer if it is an exact integer below 2^64, and otherwise in the shortest form.
func appendFloat(b []byte, f float64) []byte {
	if i := int64(f); -1<<63 <= f && f < 1<<63 && float64(i) == f {
		return strconv.AppendInt(b, i, 10)
	}
	if u, err := strconv.ParseUint(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
		return strconv.AppendUint(b, u, 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
