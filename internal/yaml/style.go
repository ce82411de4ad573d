package yaml

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// foldColumn is the column after which a string continues on the next line, at its next space.
const foldColumn = 80

// column returns the number of characters in the current line.
func (p *printer) column() int {
	return utf8.RuneCount(p.b[bytes.LastIndexByte(p.b, '\n')+1:])
}

// folded prints s without quotes. A key stays on one line. A string is folded, to column, at single spaces after foldColumn, because a
// reader turns a line end into one space.
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

// isAlone reports whether the space at i is neither next to another space nor at an end of s.
func isAlone(s string, i int) bool {
	return 0 < i && i < len(s)-1 && s[i-1] != ' ' && s[i+1] != ' '
}

func (p *printer) newLine(column int) {
	p.b = append(p.b, '\n')
	p.pad(column)
}

// doubleQuoted prints s in double quotes with escapes, folded like [printer.folded]. A backslash before the first of several spaces keeps
// them at a fold.
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

// shortEscapes are the characters with an escape of one letter. escapeLetters are the letters, in the same order.
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

// literal prints s, which has a line end, as a block with its lines at column. The header has a digit if the first line does not show the
// depth of the block. It has - for no final line end, and + for several or for a text that is only a line end.
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
