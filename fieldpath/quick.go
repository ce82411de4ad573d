package fieldpath

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// quickScanner reads the JSON of keys and items, where it stands within a JSON string or by itself,
// and only as [Set.AppendJSON] writes it: strings of simple characters, integers of up to 15
// digits, booleans, key fields in order. It gives up on everything else.
type quickScanner struct {
	text  string
	quote string // what a string begins and ends with: a quote, with a backslash in front of it within a JSON string
	pos   int
	b     []byte // the encoding
}

// key reads an object that is a key.
func (q *quickScanner) key() bool {
	if !q.pass("{") {
		return false
	}
	for last := ""; ; {
		name, ok := q.str()
		if !ok || name <= last || !q.pass(":") {
			return false
		}
		last = name
		q.b = appendText(q.b, name)
		if !q.value() {
			return false
		}
		if !q.pass(",") {
			return q.pass("}")
		}
	}
}

// value reads a scalar.
func (q *quickScanner) value() bool {
	if q.pos >= len(q.text) {
		return false
	}
	switch c := q.text[q.pos]; {
	case c == q.quote[0]:
		s, ok := q.str()
		q.b = appendText(append(q.b, tagString), s)
		return ok
	case c == '-' || '0' <= c && c <= '9':
		return q.integer()
	case c == 't':
		q.b = appendBool(q.b, true)
		return q.pass("true")
	case c == 'f':
		q.b = appendBool(q.b, false)
		return q.pass("false")
	}
	return false
}

// str reads a string of simple characters between quotes.
func (q *quickScanner) str() (string, bool) {
	if !q.pass(q.quote) {
		return "", false
	}
	start := q.pos
	for q.pos < len(q.text) && jsontext.Simple[q.text[q.pos]] {
		q.pos++
	}
	end := q.pos
	return q.text[start:end], q.pass(q.quote)
}

// integer reads an integer. It gives up on one of more than 15 digits, on a number that goes on, as
// with a dot, and on what has another spelling too, such as 007 and -0.
func (q *quickScanner) integer() bool {
	negative := q.pass("-")
	start, i := q.pos, int64(0)
	for ; q.pos < len(q.text) && '0' <= q.text[q.pos] && q.text[q.pos] <= '9'; q.pos++ {
		i = 10*i + int64(q.text[q.pos]-'0')
	}
	digits := q.pos - start
	if digits == 0 || digits > 15 || q.text[start] == '0' && (digits > 1 || negative) {
		return false
	}
	if negative {
		i = -i
	}
	q.b = appendInt(q.b, i)
	return q.pos == len(q.text) || strings.IndexByte(",}\"", q.text[q.pos]) >= 0
}

// pass passes s if it is next.
func (q *quickScanner) pass(s string) bool {
	if !strings.HasPrefix(q.text[q.pos:], s) {
		return false
	}
	q.pos += len(s)
	return true
}
