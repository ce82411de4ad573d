package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// colorFlags say whether output has colors.
type colorFlags struct{ when choice }

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

func (f *colorFlags) register(flags *pflag.FlagSet) {
	f.when = choice{colorAuto, []string{colorAuto, colorAlways, colorNever}}
	flags.Var(&f.when, "color", "color the output; auto means on a terminal, unless NO_COLOR is set or TERM is dumb")
}

// painter returns what colors text that goes to w.
func (f colorFlags) painter(w io.Writer) painter {
	switch f.when.value {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return painter(isTerminal(w))
}

// painter colors text, or leaves it as it is when it is false.
type painter bool

// A style is how a terminal shows text: the parameters of the escape sequence that turns it on.
type style string

const (
	plain  style = ""
	faint  style = "2"
	strong style = "1"
	red    style = "31"
	alarm  style = "31;1"
	green  style = "32"
	yellow style = "33"
	violet style = "35"
	cyan   style = "36"
)

// wordStyles are those of words that say what becomes of a field or an object: what is lost stands out, and what stays does not.
var wordStyles = map[string]style{
	"conflicting": alarm, "conflict": alarm, "refused": alarm, "error": alarm, "lost": yellow, outcomeTaken: yellow,
	"set": green, "adjusted": green, "created": green, "changed": green, "extracted": green,
	"pruned": red, "dropped": red, "deleted": red, "released": violet, "claimed": cyan, "shared": cyan,
	"kept": faint, "unchanged": faint, "nothing": faint, "note": faint,
}

// word returns a word in its style, padded on the right to a width in characters.
func (p painter) word(word string, width int) string {
	return p.paint(wordStyles[word], word) + strings.Repeat(" ", max(width-len(word), 0))
}

// ownerStyles tell managers apart: the colors that are readable on light and on dark ground, then the same underlined.
var ownerStyles = []style{"36", "35", "33", "32", "34", "91", "95", "96", "36;4", "35;4", "33;4", "32;4", "34;4", "91;4", "95;4", "96;4"}

// ownerStyle returns the style of the manager with the given number.
func ownerStyle(number int) style { return ownerStyles[number%len(ownerStyles)] }

// paint returns text in style s.
func (p painter) paint(s style, text string) string {
	if !bool(p) || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
