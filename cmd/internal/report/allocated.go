package report

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// Allocations reports, once for each kind, the values that a server adds to objects and that deed does not make up. The zero value is
// ready.
type Allocations struct{ said map[string]bool }

// Add reports the values that a server adds to outcome, an apply of t, unless the kind was reported before.
func (a *Allocations) Add(log *notice.Log, t *dryrun.Task, outcome managedfields.Object) {
	kind := outcome.GVK().Kind
	if a.said[kind] {
		return
	}
	var parts []string
	for _, x := range t.Allocated(outcome) {
		parts = append(parts, fmt.Sprintf("%s (%s)", allocatedPaths(x.Paths), x.Reason))
	}
	if len(parts) == 0 {
		return
	}
	if a.said == nil {
		a.said = map[string]bool{}
	}
	a.said[kind] = true
	fmt.Fprintf(log, "%v: %v: set by the server, and not made up here: %s\n", t.Given.At(), t.Given, strings.Join(parts, "; "))
}

// Refused reports the reasons why a server's validation refuses the outcome of t, each at its place in the given object.
func Refused(log *notice.Log, t *dryrun.Task, findings []types.Finding) {
	find, view := t.Given.Find(), t.Given.View()
	for _, f := range findings {
		where := t.Given.Key(find.Steps(f.Path)...)
		log.Refuse(where, "%v: refused: %s", t.Given, types.Located(view.Path(f.Path), f.Text(view)))
	}
}

// allocatedPaths converts paths of names separated by spaces to the usual notation of paths.
func allocatedPaths(paths []string) string {
	out := make([]string, len(paths))
	for i, path := range paths {
		for name := range strings.FieldsSeq(path) {
			member, want, isItem := strings.Cut(name, "=")
			switch {
			case name == "*":
				out[i] += "[*]"
			case isItem:
				out[i] += fmt.Sprintf("[%s=%q]", member, want)
			case strings.ContainsAny(name, "./"):
				out[i] += fmt.Sprintf("[%q]", name)
			default:
				out[i] += "." + name
			}
		}
	}
	return strings.Join(out, ", ")
}
