// Package wording says in words what messages are about: values, cut off where they are long, how
// many there are of something, lists of names, and what a misspelt name probably means.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deed-project/deed/value"
)

// maxShown is how many characters of a value messages show.
const maxShown = 72

// unescape undoes the escapes that JSON needs only inside HTML. It passes over escaped backslashes.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Show returns v as messages have it: JSON in one line, cut off where it is long.
func Show(v value.Value) string {
	return showFrom([]rune(inLine(v)), 0, v)
}

// ShowPair returns two values as show does. If they are too long to show their first difference,
// what they begin with in common is left out.
func ShowPair(v, w value.Value) (string, string) {
	a, b := []rune(inLine(v)), []rune(inLine(w))
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := 0
	if same+maxShown/4 > maxShown && max(len(a), len(b)) > maxShown {
		from = same - maxShown/4
	}
	return showFrom(a, from, v), showFrom(b, from, w)
}

// showFrom returns as much of text, which is v's, as may be shown, from one of its characters on.
func showFrom(text []rune, from int, v value.Value) string {
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	rest := text[from:]
	if len(rest) > maxShown {
		rest, after = rest[:maxShown], "…"
	}
	if before+after == "" {
		return string(rest)
	}
	return before + string(rest) + after + " (" + size(v, len(text)) + ")"
}

// inLine returns v as JSON, or in words when there is nothing.
func inLine(v value.Value) string {
	if v.IsAbsent() {
		return "(not set)"
	}
	return unescape.Replace(v.String())
}

// size says how long v is, whose JSON text has the given number of characters.
func size(v value.Value, characters int) string {
	switch v.Kind() {
	case value.KindString:
		return Plural(utf8.RuneCountInString(v.Str()), "character")
	case value.KindList:
		return Plural(v.Len(), "item") + ", " + Plural(characters, "character")
	case value.KindObject:
		return Plural(v.Len(), "member") + ", " + Plural(characters, "character")
	}
	return Plural(characters, "character")
}

// Plural returns n with the noun for that many.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// QuotedList returns names in quotes, as in a sentence.
func QuotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
}
