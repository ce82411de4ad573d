package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// maxShown is how many characters of a value messages show.
const maxShown = 72

// unescape undoes the escapes that JSON needs only inside HTML. It passes over escaped backslashes.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// show returns v as messages have it: JSON in one line, cut off where it is long.
func show(v value.Value) string {
	if v.IsAbsent() {
		return "(not set)"
	}
	text := unescape.Replace(v.String())
	if utf8.RuneCountInString(text) <= maxShown {
		return text
	}
	size := fmt.Sprintf("%d characters", utf8.RuneCountInString(v.Str()))
	switch v.Kind() {
	case value.KindList:
		size = plural(v.Len(), "item")
	case value.KindObject:
		size = plural(v.Len(), "member")
	}
	return string([]rune(text)[:maxShown]) + "… (" + size + ")"
}

// plural returns n with the noun for that many.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// showOwner returns who an entry of managedFields belongs to, with all that tells it from others.
func showOwner(e merge.Entry) string {
	parts := []string{string(e.Manager.Operation), e.APIVersion}
	if e.Manager.Subresource != "" {
		parts = append(parts, "subresource "+e.Manager.Subresource)
	}
	if !e.Time.IsZero() {
		parts = append(parts, e.Time.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return fmt.Sprintf("%q (%s)", e.Manager.Name, strings.Join(parts, ", "))
}
