// Package wording says in words what messages are about: how many there are of something, lists of
// names, and what a misspelt name probably means. It knows nothing of values, see package secret.
package wording

import (
	"fmt"
	"strconv"
	"strings"
)

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
