package report

import "github.com/deed-project/deed/merge"

// PlanRow is a line of a plan for programs that lay it out themselves, in the words of the text.
type PlanRow struct {
	Outcome string     `json:"outcome"` // that of a field; or defaulted, normalised, reset, refused or note
	Path    string     `json:"path,omitempty"`
	Text    string     `json:"text"` // what happens to the value
	Rule    merge.Rule `json:"rule,omitempty"`
	Line    int        `json:"line,omitempty"` // in the configuration, if it has the field
	Column  int        `json:"column,omitempty"`
	Owners  string     `json:"owners,omitempty"`
	Notes   []string   `json:"notes,omitempty"`
}

// Rows returns the lines of the plan, kept fields included, in the order of the text.
func (o *ObjectPlan) Rows() []PlanRow {
	out := planRows(nil, o.Decisions, o.Manager)
	if m := o.Migration; m != nil {
		out = append(out, PlanRow{Outcome: noted, Text: m.text()})
		out = planRows(out, m.Decisions, o.Manager)
		switch {
		case m.Error != "":
			out = append(out, PlanRow{Outcome: noted, Text: migrationFailed + m.Error})
		case len(m.Decisions) == 0 && len(m.From) > 0:
			out = append(out, PlanRow{Outcome: noted, Text: removesNothing})
		}
	}
	for _, a := range o.Adjustments {
		out = append(out, PlanRow{Outcome: string(a.How), Path: a.Path, Text: a.change()})
	}
	for _, f := range o.Findings {
		out = append(out, PlanRow{Outcome: refused, Path: f.Path, Text: f.text, Line: f.Line, Column: f.Column})
	}
	for _, path := range o.Nulls {
		out = append(out, PlanRow{Outcome: noted, Path: path, Text: becomesNull})
	}
	for _, n := range o.Notations {
		out = append(out, PlanRow{Outcome: noted, Path: n.Path, Text: n.text()})
	}
	return out
}

// planRows adds the lines of fields to rows.
func planRows(rows []PlanRow, fields []*fieldPlan, manager string) []PlanRow {
	for _, f := range inDocumentOrder(fields) {
		rows = append(rows, PlanRow{
			Outcome: f.Outcome, Path: f.Path, Text: f.change(), Rule: f.Rule, Line: f.Line, Column: f.Column,
			Owners: f.ownersText(manager), Notes: f.Notes,
		})
	}
	return rows
}
