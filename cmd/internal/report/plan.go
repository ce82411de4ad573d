package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// PlanPrinter prints plans one by one, and their sums.
type PlanPrinter struct {
	out   *bufio.Writer
	all   bool       // whether to print kept fields too
	only  PlanFilter // selects parts of plans; objects without such parts are left out
	paint Painter
	total PlanSummary

	text   bytes.Buffer // the text of the plans, which is printed behind the sum
	list   *jsonList    // nil unless the format is JSON
	others *results     // nil for text and JSON
}

// NewPlanPrinter returns a printer to out in the format text, JSON, SARIF or JUnit. SARIF and JUnit contain the conflicts and the refusals
// of a server, whatever only is. If only is nil, text leaves out kept fields, unless all is set.
func NewPlanPrinter(out io.Writer, format string, all bool, only PlanFilter, paint Painter) *PlanPrinter {
	p := &PlanPrinter{
		out: bufio.NewWriter(out), all: all, only: only, paint: paint, total: PlanSummary{Outcomes: map[string]int{}}, others: newResults(format, "deed plan"),
	}
	if format == FormatJSON {
		p.list = &jsonList{out: p.out, indent: "    "}
		p.out.WriteString("{\n    \"objects\": ")
	}
	return p
}

// Print prints the plan of one object. Close returns errors of writing.
func (p *PlanPrinter) Print(o *ObjectPlan) {
	p.total.Add(o)
	if p.others != nil {
		p.result(o)
		return
	}
	shown, any := p.only.of(o)
	switch {
	case !any && p.only != nil:
	case p.list != nil:
		p.list.add(shown)
		p.out.Flush()
	default:
		w := bufio.NewWriter(&p.text)
		shown.Write(w, p.all || p.only != nil, p.paint)
		w.Flush()
	}
}

// result buffers the conflicts of o and the refusals of a server.
func (p *PlanPrinter) result(o *ObjectPlan) {
	p.others.begin(o.object, looked)
	s := p.others.subject(o.object.File, o.object.String())
	add := func(rule string, line, column int, message string) {
		where := o.object.At()
		if line > 0 {
			where.Line, where.Column = line, column
		}
		s.found = append(s.found, result{rule: rule, level: levelError, where: where, message: message})
	}
	for _, f := range inDocumentOrder(o.Decisions) {
		if f.Outcome == merge.Conflicting.String() {
			add(f.Outcome, f.Line, f.Column, fmt.Sprintf("%s: %s (%s); %s", f.Path, f.change(), f.Rule, f.ownersText(o.Manager)))
		}
	}
	for _, f := range o.Findings {
		add(f.Class, f.Line, f.Column, f.located())
	}
}

// Close prints the sum for the given number of objects, and the notices of the run. It returns the first error of writing.
func (p *PlanPrinter) Close(objects int, notices []notice.Notice) error {
	if p.others != nil {
		return errors.Join(p.others.write(p.out, notices), p.out.Flush())
	}
	p.total.End(objects, notices)
	if p.list == nil {
		p.total.Write(p.out, p.paint)
		p.text.WriteTo(p.out)
		return p.out.Flush()
	}
	p.list.end()
	p.out.WriteString(",\n    \"summary\": ")
	sum, err := json.MarshalIndent(p.total, "    ", "    ")
	p.out.Write(sum)
	p.out.WriteString(",\n    \"notices\": ")
	said := jsonList{out: p.out, indent: "    "}
	for _, n := range noticesJSON(notices) {
		said.add(n)
	}
	said.end()
	p.out.WriteString("\n}\n")
	return errors.Join(p.list.err, said.err, err, p.out.Flush())
}

// End completes the counts of a run over the given number of objects with the given notices.
func (s *PlanSummary) End(objects int, notices []notice.Notice) {
	s.Objects, s.NotPlanned, s.ReadProblems = objects, objects-s.Objects, readProblems(notices)
}

// Write prints the counts in a line.
func (s *PlanSummary) Write(out *bufio.Writer, paint Painter) {
	notPlanned := ""
	if s.NotPlanned > 0 {
		notPlanned = fmt.Sprintf(", %d not planned", s.NotPlanned)
	}
	fmt.Fprintf(out, "%s, %d created, %d without change%s%s; fields: %s\n", wording.Plural(s.Objects, "object"), s.Created, s.NoOps,
		notPlanned, showReadProblems(s.ReadProblems), showOutcomes(s.Outcomes, paint))
}

// refused is the word for findings.
const refused = "refused"

// outcomeOrder is the order of the counts of outcomes.
var outcomeOrder = []string{
	"conflicting", OutcomeTaken, "set", "adjusted", "pruned", "dropped", "released", "claimed", "shared", "kept",
	string(dryrun.Defaulted), string(dryrun.Normalised), string(dryrun.Reset), refused,
}

// showOutcomes returns the number of fields with each outcome.
func showOutcomes(outcomes map[string]int, paint Painter) string {
	var words []string
	for _, word := range outcomeOrder {
		if n := outcomes[word]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, paint.Word(word, 0)))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// Write prints the plan of one object as text.
func (o *ObjectPlan) Write(out *bufio.Writer, all bool, paint Painter) {
	what := ""
	switch {
	case o.Creates:
		what = " is created"
	case o.NoOp:
		what = " does not change, and neither do its owners: the request can be spared"
	case o.NotationOnly:
		what = " changes only in how values are written"
	}
	fmt.Fprintf(out, "%v: %v%s: %s\n", o.object.At(), o.object, what, showOutcomes(o.Outcomes, paint))
	owners := ""
	for _, f := range inDocumentOrder(o.Decisions) {
		if all || f.Outcome != merge.Kept.String() {
			owners = f.write(out, o.Manager, owners, paint)
		}
	}
	if o.Migration != nil {
		o.Migration.write(out, o.Manager, paint)
	}
	for _, a := range o.Adjustments {
		a.write(out, paint)
	}
	for _, f := range o.Findings {
		f.write(out, paint)
	}
	note := paint.Word(noted, outcomeWidth)
	for _, path := range o.Nulls {
		fmt.Fprintf(out, "  %s  %s: %s\n", note, path, becomesNull)
	}
	for _, n := range o.Notations {
		fmt.Fprintf(out, "  %s  %s: %s\n", note, n.Path, n.text())
	}
}

// write prints the further requests of kubectl.
func (m *migrationPlan) write(out *bufio.Writer, manager string, paint Painter) {
	note := paint.Word(noted, outcomeWidth)
	fmt.Fprintf(out, "  %s  %s:\n", note, m.text())
	owners := ""
	for _, f := range inDocumentOrder(m.Decisions) {
		owners = f.write(out, manager, owners, paint)
	}
	switch {
	case m.Error != "":
		fmt.Fprintf(out, "  %s  %s%s\n", note, migrationFailed, m.Error)
	case len(m.Decisions) == 0 && len(m.From) > 0:
		fmt.Fprintf(out, "  %s  %s\n", note, removesNothing)
	}
}

// The notes about the end of a migration.
const (
	migrationFailed = "kubectl warns that the migration failed: "
	removesNothing  = "the second apply removes nothing"
)

// text describes the further requests.
func (m *migrationPlan) text() string {
	does := "kubectl then tries to migrate from client-side apply"
	switch {
	case len(m.From) > 0:
		does = fmt.Sprintf("kubectl then migrates what %s owns from client-side apply", wording.QuotedList(m.From))
	case m.saved:
		does = recordSaved
	}
	return fmt.Sprintf("%s (requests: %s; --no-migration leaves it)", does, strings.Join(m.Requests, ", "))
}

// becomesNull is the note about a value that becomes null.
const becomesNull = "becomes null, which a server refuses where the field is not nullable"

// text describes both notations.
func (n *notationPlan) text() string {
	return fmt.Sprintf("the live %v and the configured %v mean the same (%s)", n.Live, n.Wanted, n.Kind)
}

// outcomeWidth is the width of the column with outcomes, and planIndent the text in front of the next column.
const (
	outcomeWidth = 11
	planIndent   = "               "
)

// write prints the plan of the field. It returns its text about owners. above is that text for the previous field.
func (f *fieldPlan) write(out *bufio.Writer, manager, above string, paint Painter) string {
	where := ""
	if f.Line > 0 {
		where = fmt.Sprintf(", line %d", f.Line)
	}
	fmt.Fprintf(out, "  %s  %s: %s (%s%s)\n", paint.Word(f.Outcome, outcomeWidth), f.Path, f.change(), f.Rule, where)
	owners := f.ownersText(manager)
	switch {
	case owners == "":
	case owners == above && len(owners) > longOwners:
		fmt.Fprintf(out, "%sowned as the field above\n", planIndent)
	default:
		fmt.Fprintf(out, "%s%s\n", planIndent, owners)
	}
	for _, note := range f.Notes {
		fmt.Fprintf(out, "%s%s\n", planIndent, note)
	}
	return owners
}

// change describes the change of the value.
func (f *fieldPlan) change() string {
	live, result := secret.Texts(f.Live, f.Result)
	switch {
	case f.Live.Equal(f.Result):
		return live
	case f.stays() && f.Live.Len() > 0 && f.Result.Len() > 0:
		return "what is below it changes"
	case f.Live.IsAbsent():
		return "becomes " + result
	case !f.Default.IsAbsent() && f.Default.Equal(f.Live):
		return live + " stays: the server sets it again"
	case !f.Default.IsAbsent():
		return live + " returns to its default " + f.Default.String()
	case f.Result.IsAbsent():
		return live + " is removed"
	}
	return live + " becomes " + result
}

// ownersText describes the owners before and after, unless the outcome implies them.
func (f *fieldPlan) ownersText(manager string) string {
	before, after := ShowOwners(f.Before), ShowOwners(f.After)
	switch {
	case !f.others(manager):
		return ""
	case slices.Equal(f.Before, f.After):
		return "owned by " + after
	case f.Outcome == merge.Conflicting.String():
		return "owned by " + before + "; forced, by " + after
	}
	return "owned by " + before + ", then by " + after
}

// longOwners is the maximum length of a text about owners that is repeated for fields with equal owners.
const longOwners = 60

// stays reports whether the outcome changes only owners, not the value.
func (f *fieldPlan) stays() bool {
	switch f.Outcome {
	case merge.Shared.String(), merge.Kept.String(), merge.Claimed.String(), merge.Released.String():
		return true
	}
	return false
}

// others reports whether a manager besides the applier called manager owns the field before or after.
func (f *fieldPlan) others(manager string) bool {
	other := func(o Owner) bool { return o.Manager != manager || o.Operation != merge.Apply || o.Subresource != "" }
	return slices.ContainsFunc(f.Before, other) || slices.ContainsFunc(f.After, other)
}

// located returns the reason with its path.
func (f *findingPlan) located() string { return types.Located(f.Path, f.text) }

// write prints the refusal of a server.
func (f *findingPlan) write(out *bufio.Writer, paint Painter) {
	fmt.Fprintf(out, "  %s  %s, line %d\n", paint.Word(refused, outcomeWidth), f.located(), f.Line)
}

// write prints the adjustment of the field.
func (a *adjustedPlan) write(out *bufio.Writer, paint Painter) {
	fmt.Fprintf(out, "  %s  %s: %s\n", paint.Word(string(a.How), outcomeWidth), a.Path, a.change())
}

// change describes the change of the value.
func (a *adjustedPlan) change() string {
	merged, stored := secret.Texts(a.Merged, a.Stored)
	switch {
	case a.Merged.IsAbsent():
		return "becomes " + stored
	case a.Stored.IsAbsent():
		return merged + " is not kept"
	}
	return merged + " becomes " + stored
}
