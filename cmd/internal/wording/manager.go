package wording

import (
	"strconv"
	"strings"
	"unicode"
)

// Manager returns the name of a manager, quoted if it has characters that could be misread.
func Manager(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		return strconv.Quote(name)
	}
	return name
}
