package report

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// Unknowns reports what only a server knows about objects, once for each kind. The zero Unknowns has reported nothing.
type Unknowns struct{ said map[schema.GVK]bool }

// Add reports the values that a server adds to outcome, a write of t, and what a server checks of it and found lacks.
func (u *Unknowns) Add(log *notice.Log, t *dryrun.Task, outcome managedfields.Object, found types.Validated) {
	Warned(log, t.Given, found.Warnings)
	u.Unchecked(log, t, found)
	if u.said[outcome.GVK()] {
		return
	}
	var parts []string
	for _, x := range t.Allocated(outcome) {
		parts = append(parts, fmt.Sprintf("%s (%s)", allocatedPaths(x.Paths), x.Reason))
	}
	if len(parts) > 0 {
		u.say(log, t, "set by the server, and not made up here: "+strings.Join(parts, "; "))
	}
}

// Warned reports warnings of a server about o, each at its place.
func Warned(log *notice.Log, o *manifest.Object, warnings []types.Warning) {
	find := o.Find()
	for _, w := range warnings {
		log.Warn(o.Key(find.Steps(w.Path)...), "%v: %s", o, w.Text(o.View()))
	}
}

// Unchecked reports what a server checks of the outcome of t and found lacks.
func (u *Unknowns) Unchecked(log *notice.Log, t *dryrun.Task, found types.Validated) {
	if found.Unchecked != "" && !u.said[t.Given.GVK()] {
		u.say(log, t, "not checked: "+found.Unchecked)
	}
}

// say reports text about the kind of t.
func (u *Unknowns) say(log *notice.Log, t *dryrun.Task, text string) {
	if u.said == nil {
		u.said = map[schema.GVK]bool{}
	}
	u.said[t.Given.GVK()] = true
	fmt.Fprintf(log, "%v: %v: %s\n", t.Given.At(), t.Given, text)
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
