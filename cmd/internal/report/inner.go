package report

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// maxInner is the maximum number of differences inside a value that are shown.
const maxInner = 8

// innerNotes lists the differences inside live and result, the values of name, if both are non-empty lists or both are non-empty objects.
func innerNotes(name string, live, result secret.Value) []string {
	if live.Len() == 0 || result.Len() == 0 || live.IsList() != result.IsList() {
		return nil
	}
	lines, more := secret.Inner(name, live, result, maxInner)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", wording.Plural(more, "difference")))
	}
	return lines
}
