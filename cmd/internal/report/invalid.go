package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// The modes of validation, as in kubectl.
const (
	StrictMode = "strict"
	WarnMode   = "warn"
	IgnoreMode = "ignore"
)

// validationJSON is the outcome of deed validate.
type validationJSON struct {
	Valid    int          `json:"valid"`
	Invalid  int          `json:"invalid"`
	Untyped  int          `json:"withoutSchema"`
	Findings []defectJSON `json:"findings"`
}

// defectJSON is one place where an object is not as its schema wants it.
type defectJSON struct {
	manifest.Ref
	Path    string `json:"path"`
	Column  int    `json:"column"`
	Class   string `json:"class"`
	Detail  string `json:"detail"`
	Warning bool   `json:"warning,omitempty"`
}

// InvalidPrinter prints what is invalid, object by object, and how much there is.
type InvalidPrinter struct {
	out    *bufio.Writer
	isJSON bool
	mode   string // StrictMode, WarnMode or IgnoreMode
	paint  Painter
	total  validationJSON
	others *results // nil for text and JSON
}

// NewInvalidPrinter returns the printer that writes to out in one of the formats text, JSON, SARIF
// and JUnit.
func NewInvalidPrinter(out io.Writer, format, mode string, paint Painter) *InvalidPrinter {
	return &InvalidPrinter{
		out: bufio.NewWriter(out), isJSON: format == FormatJSON, mode: mode, paint: paint,
		total: validationJSON{Findings: []defectJSON{}}, others: newResults(format, "deed validate"),
	}
}

// Print prints the defects of o, as far as the mode takes them to be some, and reports whether it
// is valid all the same. isTyped says whether its kind has a schema. Errors of writing show in
// Close.
func (p *InvalidPrinter) Print(o *manifest.Object, defects []finding.Defect, isTyped bool) (isValid bool) {
	isValid = true
	if p.others.begin(o); p.others != nil && !isTyped {
		p.others.subject(o.File, o.String()).skipped = "no schema describes the kind"
	}
	for _, x := range defects {
		if x.Mild && p.mode == IgnoreMode {
			continue
		}
		isWarning := x.Mild && p.mode == WarnMode
		isValid = isValid && isWarning
		p.defect(x, isWarning)
	}
	switch {
	case !isTyped:
		p.total.Untyped++
	case isValid:
		p.total.Valid++
	default:
		p.total.Invalid++
	}
	p.out.Flush()
	return isValid
}

// defect prints x, or sets it aside for the formats that begin with a sum.
func (p *InvalidPrinter) defect(x finding.Defect, isWarning bool) {
	level, prefix, style := levelError, "", Red
	if isWarning {
		level, prefix, style = levelWarning, "warning: ", Yellow
	}
	switch {
	case p.isJSON:
		f := defectJSON{x.Object.Ref(), x.Path.Text(), x.Where.Column, x.Class, x.Detail, isWarning}
		f.Line = x.Where.Line
		p.total.Findings = append(p.total.Findings, f)
	case p.others != nil:
		s := p.others.subject(x.Object.File, x.Object.String())
		s.found = append(s.found, result{rule: x.Class, level: level, where: x.Where, message: x.Detail, mild: isWarning})
	default:
		fmt.Fprintf(p.out, "%v: %s%v: %s\n", x.Where, prefix, x.Object, p.paint.Paint(style, x.Detail))
	}
}

// Close prints how much there was. It returns the first error of writing.
func (p *InvalidPrinter) Close() error {
	if p.isJSON {
		return errors.Join(WriteJSON(p.out, p.total), p.out.Flush())
	}
	if p.others != nil {
		return errors.Join(p.others.write(p.out), p.out.Flush())
	}
	objects := p.total.Valid + p.total.Invalid + p.total.Untyped
	fmt.Fprintf(p.out, "%s: %d valid, %d invalid, %d without schema\n",
		wording.Plural(objects, "object"), p.total.Valid, p.total.Invalid, p.total.Untyped)
	return p.out.Flush()
}
