package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// CaseResult is what came of one case of a test.
type CaseResult struct {
	Name   string
	Where  notice.Position
	Faults []string // none if the case passed
}

// casesJSON is the output of deed policy test in JSON.
type casesJSON struct {
	Passed  int          `json:"passed"`
	Failed  int          `json:"failed"`
	Cases   []caseJSON   `json:"cases"`
	Notices []noticeJSON `json:"notices"`
}

type caseJSON struct {
	Name   string   `json:"name"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Passed bool     `json:"passed"`
	Faults []string `json:"faults"`
}

// CasePrinter prints the results of cases, and their number.
type CasePrinter struct {
	out    *bufio.Writer
	isJSON bool
	paint  Painter
	total  casesJSON
	others *results // nil for text and JSON
}

// NewCasePrinter returns a printer to out in the format text, JSON or JUnit.
func NewCasePrinter(out io.Writer, format string, paint Painter) *CasePrinter {
	return &CasePrinter{
		out: bufio.NewWriter(out), isJSON: format == FormatJSON, paint: paint, total: casesJSON{Cases: []caseJSON{}}, others: newResults(format, "deed policy test"),
	}
}

// Print prints the result of a case in a file. Close returns errors of writing.
func (p *CasePrinter) Print(file string, r CaseResult) {
	said, style := "ok", green
	if p.total.Passed++; len(r.Faults) > 0 {
		p.total.Passed--
		p.total.Failed++
		said, style = "FAILED: "+strings.Join(r.Faults, "; "), Red
	}
	switch {
	case p.isJSON:
		p.total.Cases = append(p.total.Cases, caseJSON{r.Name, file, r.Where.Line, len(r.Faults) == 0, append([]string{}, r.Faults...)})
	case p.others != nil:
		s := p.others.subject(file, r.Name)
		for _, fault := range r.Faults {
			s.found = append(s.found, result{rule: "decision", level: levelError, where: r.Where, message: fault})
		}
	default:
		fmt.Fprintf(p.out, "%v: %s: %s\n", r.Where, r.Name, p.paint.Paint(style, said))
		p.out.Flush()
	}
}

// Close prints the counts and the notices of the run. It returns the first error of writing.
func (p *CasePrinter) Close(notices []notice.Notice) error {
	switch {
	case p.isJSON:
		p.total.Notices = noticesJSON(notices)
		return errors.Join(WriteJSON(p.out, p.total), p.out.Flush())
	case p.others != nil:
		return errors.Join(p.others.write(p.out, notices), p.out.Flush())
	}
	fmt.Fprintf(p.out, "%s: %d passed, %d failed\n", wording.Plural(p.total.Passed+p.total.Failed, "case"), p.total.Passed, p.total.Failed)
	return p.out.Flush()
}
