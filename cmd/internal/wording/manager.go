package wording

import (
	"strconv"
	"strings"
	"unicode"
)

// Manager returns the name of a manager as it is, or quoted if it has characters that would be
// mistaken for something else.
func Manager(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		return strconv.Quote(name)
	}
	return name
}
