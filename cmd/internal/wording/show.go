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

// ShellWord returns text as one word of a command line for a POSIX shell: as it is if no shell sees anything in it, and
// else in quotes.
func ShellWord(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plain has the bytes that mean nothing to a shell wherever they stand in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+="

// KubectlType returns what kubectl calls objects of a kind on its command line, in just that version: configmap, which kubectl
// looks for in the group without a name first, or deployment.v1.apps.
func KubectlType(group, version, kind string) string {
	if group == "" {
		return strings.ToLower(kind)
	}
	return strings.ToLower(kind) + "." + version + "." + group
}
