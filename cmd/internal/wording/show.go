// Package wording formats parts of messages: counts, lists of names, and suggestions for misspelt names. It does not format values, see
// package secret.
package wording

import (
	"fmt"
	"strconv"
	"strings"
)

// Plural returns n with the singular or plural of noun.
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

// ShellWord returns text as one word of a command line for a POSIX shell. It quotes text with characters that are special to a shell.
func ShellWord(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plain holds the characters that are not special to a shell at any place in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+="

// KubectlType returns the name of a kind on the command line of kubectl, for exactly this version. The name has the form
// deployment.v1.apps, or configmap for the group without a name, in which kubectl looks first.
func KubectlType(group, version, kind string) string {
	if group == "" {
		return strings.ToLower(kind)
	}
	return strings.ToLower(kind) + "." + version + "." + group
}
