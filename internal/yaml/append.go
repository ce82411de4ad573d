package yaml

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/deed-project/deed/value"
)

// Append appends v to b as one document in block style, byte for byte as kubectl -o yaml prints it: names in natural order,
// two spaces for each level, the items of a list no deeper than its name, strings of several lines as blocks, other strings
// quoted where they must be, and folded behind column 80. b is empty or ends with a line end, and so does the result.
//
// [Parse] reads the result as a value that is Equal to v, except that bytes that are not UTF-8 become U+FFFD, and a part
// of v that is absent null. Other YAML parsers read the same: what any of YAML 1.1 and 1.2 would not take for a string is
// quoted, which kubectl forgets for some rare texts such as 1e400, <<, = and those with the line ends of Unicode.
func Append(b []byte, v value.Value) []byte {
	p := printer{b: b}
	p.document(v)
	return p.b
}

// Write writes to w what [Append] appends, in pieces, so that no more than one scalar and [flushed] bytes are held.
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

// indentStep is how much deeper a level is.
const indentStep = 2

// printer appends to b. Its functions take the column of what they print: that of the keys of an object, that of the dashes
// of a list, and that of the further lines of a string.
type printer struct {
	b   []byte
	out io.Writer // that b goes to from time to time; nil if all is wanted in b
	err error     // of out
}

// flushed is from how many bytes on they are written.
const flushed = 32 << 10

// flush writes what is printed if out is there and it is more than limit. Unless that is 0, the line at hand stays, with the line
// end in front of it, which decide how a string goes on.
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

// isBlock tells whether v spreads over lines: a list or object that is not empty.
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

// inline prints v, and the end of its last line, from the column on, which is where the line at hand ends.
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

// below prints v, the value of a key in column.
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

// appendFloat prints f as an integer if it is one below 2^64, exactly, and in the shortest way otherwise.
func appendFloat(b []byte, f float64) []byte {
	if i := int64(f); -1<<63 <= f && f < 1<<63 && float64(i) == f {
		return strconv.AppendInt(b, i, 10)
	}
	if u, err := strconv.ParseUint(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
		return strconv.AppendUint(b, u, 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
