package report

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// maxInner is how many differences inside of a value are shown.
const maxInner = 8

// innerNotes says where live and result, the values at path of o, differ inside, if both have
// something inside. Secrets stay secret.
func innerNotes(o managedfields.Object, path fieldpath.Path, live, result value.Value) []string {
	if live.Kind() != result.Kind() || live.Len() == 0 || result.Len() == 0 || len(path) == 0 || secret.IsIn(o, path) {
		return nil
	}
	if live.Kind() != value.KindList && live.Kind() != value.KindObject {
		return nil
	}
	name := strings.TrimPrefix(path[len(path)-1:].Text(), ".")
	lines, more := wording.Inner(name, live, result, maxInner)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", wording.Plural(more, "difference")))
	}
	return lines
}
