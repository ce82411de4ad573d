package report

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// maxInner is how many differences inside of a value are shown.
const maxInner = 8

// innerNotes says where live and result, the values of what is called name, differ inside, if both
// are lists or objects that are not empty.
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
