package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/ownership"
)

// manyAlike is the number of findings with one code about one entry that are printed; further ones are counted.
const manyAlike = 20

// FindingPrinter prints findings, object by object.
type FindingPrinter struct {
	// Found counts the findings without ignored ones.
	Found int

	out     *bufio.Writer
	results *results // nil for text and JSON
	ignore  []string // codes
	all     bool     // whether to print all findings, however many are alike
	paint   Painter
	list    *jsonList // nil unless the format is JSON
}

// NewFindingPrinter returns a printer to out in the format text, JSON, SARIF or JUnit.
func NewFindingPrinter(out io.Writer, format string, ignore []string, all bool, paint Painter) *FindingPrinter {
	p := &FindingPrinter{out: bufio.NewWriter(out), ignore: ignore, all: all, paint: paint}
	p.results = newResults(format, "deed check")
	if format == FormatJSON {
		p.list = &jsonList{out: p.out}
	}
	return p
}

// Begin starts the findings about o. seen says whether o could be checked.
func (p *FindingPrinter) Begin(o *manifest.Object, seen bool) {
	how := looked
	if !seen {
		how = notLooked
	}
	p.results.begin(o, how)
}

// kindOfFinding identifies findings that are alike.
type kindOfFinding struct {
	code  ownership.Code
	entry int
	kind  string
}

// Print prints the findings about one object. It prints at most manyAlike findings that are alike, and then the number of the others. Close
// returns errors of writing.
func (p *FindingPrinter) Print(found ...finding.Finding) {
	found = slices.DeleteFunc(found, func(x finding.Finding) bool { return slices.Contains(p.ignore, string(x.Code)) })
	p.Found += len(found)
	alike := map[kindOfFinding]int{}
	var last finding.Finding
	for _, x := range found {
		kind := kindOf(x)
		if kind != kindOf(last) {
			p.more(last, alike[kindOf(last)])
		}
		last = x
		if alike[kind]++; p.all || alike[kind] <= manyAlike {
			p.print(x)
		}
	}
	p.more(last, alike[kindOf(last)])
	p.out.Flush()
}

func kindOf(x finding.Finding) kindOfFinding {
	return kindOfFinding{x.Code, x.Entry, x.Kind}
}

func (p *FindingPrinter) print(x finding.Finding) {
	code := string(x.Code)
	switch {
	case p.list != nil:
		p.list.add(findingJSON(x))
		return
	case p.results != nil:
		s := p.results.subject(x.Where.File, x.Subject)
		message := strings.TrimPrefix(strings.TrimPrefix(x.String(), code), ": ")
		s.found = append(s.found, result{rule: code, level: levelWarning, where: x.Where, message: message, remedy: x.Remedy})
		return
	}
	fmt.Fprintf(p.out, "%v: %s: %s%s\n", x.Where, x.Subject, p.paint.Paint(Yellow, code), strings.TrimPrefix(x.String(), code))
	if x.Remedy != "" {
		fmt.Fprintf(p.out, "    %s\n", p.paint.Paint(Faint, x.Remedy))
	}
}

// more prints how many of n findings like x are left out.
func (p *FindingPrinter) more(x finding.Finding, n int) {
	if p.all || n <= manyAlike {
		return
	}
	x.Places, x.Remedy = nil, ""
	x.Detail = fmt.Sprintf("%s more like this; --all prints them", wording.Plural(n-manyAlike, "finding"))
	x.Place = ""
	p.print(x)
}

// Close ends the output. Formats for other programs also get the notices of the run. It returns the first error of writing.
func (p *FindingPrinter) Close(notices []notice.Notice) error {
	if p.results != nil {
		return errors.Join(p.results.write(p.out, notices), p.out.Flush())
	}
	if p.list == nil {
		return p.out.Flush()
	}
	for _, n := range notices {
		p.list.add(noticeAsFinding(n))
	}
	p.list.end()
	p.out.WriteString("\n")
	return errors.Join(p.list.err, p.out.Flush())
}
