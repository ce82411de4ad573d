package yaml

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// str prints s in the plainest style that reads back as s. column is the column of its further lines; a key has no further lines.
func (p *printer) str(s string, column int, key bool) {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // each byte that is not UTF-8 becomes U+FFFD
	}
	l := look(s)
	switch {
	case l.isLiteral(key):
		p.literal(s, column)
	case l.needsEscapes || l.lines || isOther(s):
		p.doubleQuoted(s, column, key)
	case l.isPlain():
		p.folded(s, column, key)
	default:
		p.b = append(p.b, '\'')
		p.folded(strings.ReplaceAll(s, "'", "''"), column, key)
		p.b = append(p.b, '\'')
	}
}

// looks are the properties of a string that decide its style.
type looks struct {
	lines        bool // has a line end
	needsEscapes bool // has characters that only double quotes can hold
	padded       bool // has a space at one of its ends
	endsInSpace  bool // has a space at its end, or at the end of one of its lines
	indicator    bool // has characters that end a plain string or give it another meaning
}

func look(s string) looks {
	l := looks{
		lines:       strings.Contains(s, "\n"),
		padded:      strings.HasPrefix(s, " ") || strings.HasSuffix(s, " "),
		endsInSpace: strings.HasSuffix(s, " ") || strings.Contains(s, " \n"),
		indicator:   beginsLikeSyntax(s) || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.Contains(s, " #"),
	}
	for _, r := range s {
		l.needsEscapes = l.needsEscapes || r != '\n' && needsEscape(r)
	}
	return l
}

func (l looks) isLiteral(key bool) bool { return l.lines && !key && !l.needsEscapes && !l.endsInSpace }

func (l looks) isPlain() bool { return !l.padded && !l.indicator }

// beginsLikeSyntax reports whether s begins like a construct that is not a plain string.
func beginsLikeSyntax(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return true
	case '?', ':', '-':
		if len(s) == 1 || s[1] == ' ' {
			return true
		}
	}
	return strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...")
}

// needsEscape reports whether r is only allowed in double quotes, as an escape: control characters, tabs, line ends, and characters that
// older parsers misread or refuse.
func needsEscape(r rune) bool {
	switch {
	case r < ' ' || 0x7f <= r && r < 0xa0:
		return true
	case r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
		return true
	}
	return r > 0xffff
}

// isBreak reports whether r ends a line in YAML 1.1.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// isSimpleKey reports whether name can precede its colon without a question mark.
func isSimpleKey(name string) bool {
	return len(name) <= 128 && !strings.ContainsFunc(name, isBreak)
}

// numbers matches the numbers and times of YAML 1.1 and 1.2 that resolve does not know. These are numbers in base 60, with more digits
// than a float64, or with underscores after the point, and times with a space before the zone.
var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		`[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`,
		`[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9]+)?`,
		`[-+]?0[xX][0-9a-fA-F_]+`, `[-+]?0[oO][0-7_]+`, `[-+]?0[bB][01_]+`,
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?`,
	}, "|") + `)$`)
})

// isOther reports whether any YAML parser reads an unquoted s as anything but the string s.
func isOther(s string) bool {
	if s == "" || s == "<<" || s == "=" {
		return true
	}
	if _, ok := words[s]; ok {
		return true
	}
	switch c := s[0]; {
	case c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9':
	default:
		return false
	}
	if _, isString := resolve(s).(string); !isString {
		return true
	}
	return isTimestamp(s) || numbers().MatchString(s)
}
