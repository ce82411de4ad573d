package yaml

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// foldColumn is the column behind which a string goes on in the next line, at its next space.
const foldColumn = 80

// column returns how many characters the line at hand has.
func (p *printer) column() int {
	return utf8.RuneCount(p.b[bytes.LastIndexByte(p.b, '\n')+1:])
}

// folded prints s as it is. A key stays in one line. A string goes on in the next, at column, instead of a space that stands
// behind foldColumn and alone: a reader makes one space of a line end.
func (p *printer) folded(s string, column int, key bool) {
	at := p.column()
	if key || at+len(s) <= foldColumn {
		p.b = append(p.b, s...)
		return
	}
	for i, r := range s {
		if r == ' ' && at > foldColumn && isAlone(s, i) {
			p.newLine(column)
			at = column
			continue
		}
		p.b = utf8.AppendRune(p.b, r)
		at++
	}
}

// isAlone tells whether the space at i is neither beside another nor at an end of s.
func isAlone(s string, i int) bool {
	return 0 < i && i < len(s)-1 && s[i-1] != ' ' && s[i+1] != ' '
}

func (p *printer) newLine(column int) {
	p.b = append(p.b, '\n')
	p.pad(column)
}

// doubleQuoted prints s between double quotes, with escapes, folded as [printer.folded] does. Spaces behind a fold are kept
// by a backslash in front of the first.
func (p *printer) doubleQuoted(s string, column int, key bool) {
	p.b = append(p.b, '"')
	at := p.column()
	for i, r := range s {
		before := len(p.b)
		switch {
		case r == ' ' && !key && at > foldColumn && 0 < i && i < len(s)-1 && s[i-1] != ' ':
			p.newLine(column)
			if s[i+1] == ' ' {
				p.b = append(p.b, '\\')
			}
			at = len(p.b) - before - 1
			continue
		case r == '"' || r == '\\' || needsEscape(r):
			p.escape(r)
			at += len(p.b) - before
			continue
		}
		p.b = utf8.AppendRune(p.b, r)
		at++
	}
	p.b = append(p.b, '"')
}

// shortEscapes are the characters that have an escape of their own, and escapeLetters what stands behind the backslash.
const (
	shortEscapes  = "\x00\a\b\t\n\v\f\r\x1b\"\\\u0085\u2028\u2029"
	escapeLetters = `0abtnvfre"\NLP`
)

func (p *printer) escape(r rune) {
	if i := strings.IndexRune(shortEscapes, r); i >= 0 {
		p.b = append(p.b, '\\', escapeLetters[utf8.RuneCountInString(shortEscapes[:i])])
		return
	}
	switch {
	case r <= 0xff:
		p.b = fmt.Appendf(p.b, `\x%02X`, r)
	case r <= 0xffff:
		p.b = fmt.Appendf(p.b, `\u%04X`, r)
	default:
		p.b = fmt.Appendf(p.b, `\U%08X`, r)
	}
}

// literal prints s, which has a line end, as a block with its lines at column. The header has a digit where the depth of the
// block cannot be seen from its first line, and says what to do with the last line ends: - none, + more than one.
func (p *printer) literal(s string, column int) {
	p.b = append(p.b, '|')
	if s[0] == ' ' || s[0] == '\n' {
		p.b = append(p.b, '0'+indentStep)
	}
	switch {
	case !strings.HasSuffix(s, "\n"):
		p.b = append(p.b, '-')
	case s == "\n" || strings.HasSuffix(s, "\n\n"):
		p.b = append(p.b, '+')
	}
	p.b = append(p.b, '\n')
	for line := range strings.Lines(s) {
		if line != "\n" {
			p.pad(column)
		}
		p.b = append(p.b, line...)
	}
}
