package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// objectPlan is what an apply would do to one object. Its JSON is the output of deed plan.
type objectPlan struct {
	object       *object
	File         string          `json:"file"`
	Document     int             `json:"document"`
	Line         int             `json:"line"`
	APIVersion   string          `json:"apiVersion"`
	Kind         string          `json:"kind"`
	Namespace    string          `json:"namespace,omitempty"`
	Name         string          `json:"name"`
	Manager      string          `json:"manager"`
	Creates      bool            `json:"creates"`
	NoOp         bool            `json:"noOp"`
	NotationOnly bool            `json:"notationOnly"`
	Conflicts    int             `json:"conflicts"`
	Outcomes     map[string]int  `json:"outcomes"`
	Decisions    []*fieldPlan    `json:"decisions"`
	Notations    []*notationPlan `json:"notations"`
	Nulls        []string        `json:"nulls"` // paths of what becomes null
}

// fieldPlan is what an apply would do to one field.
type fieldPlan struct {
	Path    string      `json:"path"`
	Outcome string      `json:"outcome"`
	Rule    merge.Rule  `json:"rule"`
	Line    int         `json:"line,omitempty"` // in the configuration, if the field is there
	Column  int         `json:"column,omitempty"`
	Live    value.Value `json:"live,omitzero"`
	Result  value.Value `json:"result,omitzero"`
	Before  []owner     `json:"before"`
	After   []owner     `json:"after"`
	Notes   []string    `json:"notes,omitempty"`
}

// notationPlan is a value that is written in two ways.
type notationPlan struct {
	Path   string      `json:"path"`
	Kind   string      `json:"kind"`
	Live   value.Value `json:"live"`
	Wanted value.Value `json:"wanted"`
}

// owner is a manager in JSON.
type owner struct {
	Manager     string          `json:"manager"`
	Operation   merge.Operation `json:"operation"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

func owners(managers []merge.Manager) []owner {
	out := make([]owner, len(managers))
	for i, m := range managers {
		out[i] = owner{m.Name, m.Operation, m.APIVersion, m.Subresource}
	}
	return out
}

// String returns the owner as messages have it.
func (o owner) String() string {
	return showOwner(merge.Entry{
		Manager:    merge.Manager{Name: o.Manager, Operation: o.Operation, Subresource: o.Subresource},
		APIVersion: o.APIVersion,
	})
}

// showOwners returns the owners in one line.
func showOwners(owners []owner) string {
	if len(owners) == 0 {
		return "nobody"
	}
	words := make([]string, len(owners))
	for i, o := range owners {
		words[i] = o.String()
	}
	return strings.Join(words, " and ")
}

// outcomeOrder is the order in which outcomes are counted.
var outcomeOrder = []string{
	"conflicting", outcomeTaken, "set", "adjusted", "pruned", "dropped", "released", "claimed", "shared", "kept",
}

// showOutcomes returns how many fields have each outcome.
func showOutcomes(outcomes map[string]int, paint painter) string {
	var words []string
	for _, word := range outcomeOrder {
		if n := outcomes[word]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, paint.word(word, 0)))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// write prints the plan of one object in words.
func (o *objectPlan) write(out *bufio.Writer, all bool, paint painter) {
	what := ""
	switch {
	case o.Creates:
		what = " is created"
	case o.NoOp:
		what = " does not change, and neither do its owners: the request can be spared"
	case o.NotationOnly:
		what = " changes only in how values are written"
	}
	fmt.Fprintf(out, "%v: %v%s: %s\n", o.object.at(), o.object, what, showOutcomes(o.Outcomes, paint))
	for _, f := range o.Decisions {
		if all || f.Outcome != merge.Kept.String() {
			f.write(out, o.Manager, paint)
		}
	}
	note := paint.word("note", outcomeWidth)
	for _, path := range o.Nulls {
		fmt.Fprintf(out, "  %s  %s: becomes null, which a server refuses where the field is not nullable\n", note, path)
	}
	for _, n := range o.Notations {
		fmt.Fprintf(out, "  %s  %s: the live %s and the configured %s mean the same (%s)\n",
			note, n.Path, show(n.Live), show(n.Wanted), n.Kind)
	}
}

// outcomeWidth is that of the column with outcomes, and planIndent what is in front of the column behind it.
const (
	outcomeWidth = 11
	planIndent   = "               "
)

func (f *fieldPlan) write(out *bufio.Writer, manager string, paint painter) {
	live, result := showPair(f.Live, f.Result)
	change := live
	switch {
	case f.Live.Equal(f.Result):
	case f.stays() && f.Live.Len() > 0 && f.Result.Len() > 0:
		change = "what is below it changes"
	case f.Live.IsAbsent():
		change = "becomes " + result
	case f.Result.IsAbsent():
		change = live + " is removed"
	default:
		change = live + " becomes " + result
	}
	where := ""
	if f.Line > 0 {
		where = fmt.Sprintf(", line %d", f.Line)
	}
	fmt.Fprintf(out, "  %s  %s: %s (%s%s)\n", paint.word(f.Outcome, outcomeWidth), f.Path, change, f.Rule, where)
	f.writeOwners(out, manager)
	for _, note := range f.Notes {
		fmt.Fprintf(out, "%s%s\n", planIndent, note)
	}
}

// writeOwners prints who owns the field, before and after, if the outcome does not say it all.
func (f *fieldPlan) writeOwners(out *bufio.Writer, manager string) {
	before, after := showOwners(f.Before), showOwners(f.After)
	switch {
	case !f.others(manager):
	case slices.Equal(f.Before, f.After):
		fmt.Fprintf(out, "%sowned by %s\n", planIndent, after)
	case f.Outcome == merge.Conflicting.String():
		fmt.Fprintf(out, "%sowned by %s; forced, by %s\n", planIndent, before, after)
	default:
		fmt.Fprintf(out, "%sowned by %s, then by %s\n", planIndent, before, after)
	}
}

// stays reports whether the outcome is about who owns the field, and not about what it is.
func (f *fieldPlan) stays() bool {
	switch f.Outcome {
	case merge.Shared.String(), merge.Kept.String(), merge.Claimed.String(), merge.Released.String():
		return true
	}
	return false
}

// others reports whether somebody else than the applier called manager owns the field, before or after.
func (f *fieldPlan) others(manager string) bool {
	other := func(o owner) bool { return o.Manager != manager || o.Operation != merge.Apply || o.Subresource != "" }
	return slices.ContainsFunc(f.Before, other) || slices.ContainsFunc(f.After, other)
}

// planSummary counts what there is in several plans.
type planSummary struct {
	Objects   int            `json:"objects"`
	Created   int            `json:"created"`
	NoOps     int            `json:"noOps"`
	Conflicts int            `json:"conflicts"`
	Outcomes  map[string]int `json:"outcomes"`
}

func (s *planSummary) add(o *objectPlan) {
	s.Objects++
	s.Conflicts += o.Conflicts
	if o.Creates {
		s.Created++
	}
	if o.NoOp {
		s.NoOps++
	}
	for word, n := range o.Outcomes {
		s.Outcomes[word] += n
	}
}

func (s *planSummary) write(out *bufio.Writer, paint painter) {
	fmt.Fprintf(out, "%s, %d created, %d without change; fields: %s\n",
		plural(s.Objects, "object"), s.Created, s.NoOps, showOutcomes(s.Outcomes, paint))
}

// writeJSON writes v indented as kubectl does. Errors of writing show when out is flushed.
func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(v)
}

// orEmpty returns s, as a slice that JSON prints as a list even when it is empty.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
