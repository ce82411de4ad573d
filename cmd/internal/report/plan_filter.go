package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// PlanFilter selects parts of plans by their words: the outcomes of fields, refused for the refusals of a server, and note for notes. The
// nil PlanFilter selects everything.
type PlanFilter map[string]bool

// noted is the word for notes.
const noted = "note"

// planGroups maps the names of groups to their words.
var planGroups = map[string][]string{
	"changed": {OutcomeTaken, "set", "adjusted", "pruned", "dropped"},
	"owners":  {"claimed", "shared", "released"},
	"server":  {string(dryrun.Defaulted), string(dryrun.Normalised), string(dryrun.Reset)},
}

// PlanWords returns the words of a filter: outcomes in the order of the counts, then groups.
func PlanWords() []string {
	return slices.Concat(outcomeOrder, []string{noted}, slices.Sorted(maps.Keys(planGroups)))
}

// NewPlanFilter returns the filter for words, which selects everything if there are none.
func NewPlanFilter(words []string) (PlanFilter, error) {
	if len(words) == 0 {
		return nil, nil
	}
	f := PlanFilter{}
	for _, word := range words {
		if !slices.Contains(PlanWords(), word) {
			hint := ""
			if meant := wording.Nearest(word, PlanWords()); meant != "" {
				hint = fmt.Sprintf("; did you mean %q?", meant)
			}
			return nil, fmt.Errorf("there is no outcome %q, only %s%s", word, strings.Join(PlanWords(), ", "), hint)
		}
		f[word] = true
		for _, outcome := range planGroups[word] {
			f[outcome] = true
		}
	}
	return f, nil
}

// Shows reports whether the filter selects parts with the word.
func (f PlanFilter) Shows(word string) bool { return f == nil || f[word] }

// of returns the selected parts of o, and whether there are any.
func (f PlanFilter) of(o *ObjectPlan) (*ObjectPlan, bool) {
	out := *o
	out.Decisions = keep(o.Decisions, func(d *fieldPlan) bool { return f.Shows(d.Outcome) })
	out.Adjustments = keep(o.Adjustments, func(a *adjustedPlan) bool { return f.Shows(string(a.How)) })
	if !f.Shows(refused) {
		out.Findings = nil
	}
	if !f.Shows(noted) {
		out.Notations, out.Nulls, out.Migration = []*notationPlan{}, []string{}, nil
	}
	n := len(out.Decisions) + len(out.Adjustments) + len(out.Findings) + len(out.Notations) + len(out.Nulls)
	return &out, n > 0 || out.Migration != nil
}

// keep returns the items that are wanted, in a new slice that is not nil.
func keep[T any](items []T, wanted func(T) bool) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		if wanted(item) {
			out = append(out, item)
		}
	}
	return out
}
