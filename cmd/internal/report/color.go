package report

import (
	"strings"
)

// Painter adds colors to text if it is true.
type Painter bool

// A style is the parameters of the escape sequence that makes a terminal show text in a style.
type Style string

const (
	plain  Style = ""
	Faint  Style = "2"
	strong Style = "1"
	Red    Style = "31"
	alarm  Style = "31;1"
	green  Style = "32"
	Yellow Style = "33"
	violet Style = "35"
	cyan   Style = "36"
)

// wordStyles maps the words for outcomes of fields and objects to styles. Losses stand out, and unchanged fields do not.
var wordStyles = map[string]Style{
	"conflicting": alarm, "conflict": alarm, "refused": alarm, "error": alarm, "lost": Yellow, OutcomeTaken: Yellow,
	"set": green, "adjusted": green, "created": green, "changed": green, "extracted": green,
	"pruned": Red, "dropped": Red, "deleted": Red, "released": violet, "claimed": cyan, "shared": cyan,
	"unserved": alarm, "accepted": green, "agreed": green, "served": green, "stored": green, "owned": violet,
	"kept": Faint, "unchanged": Faint, "nothing": Faint, "note": Faint,
}

// Word returns a word in its style, padded on the right to a width in characters.
func (p Painter) Word(word string, width int) string {
	return p.Paint(wordStyles[word], word) + strings.Repeat(" ", max(width-len(word), 0))
}

// ownerStyles distinguish managers: first the colors that are readable on light and dark backgrounds, then the same colors underlined.
var ownerStyles = []Style{"36", "35", "33", "32", "34", "91", "95", "96", "36;4", "35;4", "33;4", "32;4", "34;4", "91;4", "95;4", "96;4"}

// ownerStyle returns the style of the manager with the given number.
func ownerStyle(number int) Style { return ownerStyles[number%len(ownerStyles)] }

// Paint returns text in style s.
func (p Painter) Paint(s Style, text string) string {
	if !bool(p) || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
