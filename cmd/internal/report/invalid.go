package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
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
	Valid        int          `json:"valid"`
	Invalid      int          `json:"invalid"`
	NotValidated int          `json:"notValidated"` // objects without a usable schema
	ReadProblems int          `json:"readProblems"` // with files, documents and objects that could not be read
	Findings     []defectJSON `json:"findings"`
	Notices      []noticeJSON `json:"notices"`
	NotChecked   []string     `json:"notChecked"`
}

// notChecked is what validation does not look at, although servers do.
var notChecked = []string{
	"names", "labels", "most required fields", "enumerations of custom resources", "patterns", "limits", "formats", "CEL rules",
	"most rules of built-in kinds", "admission",
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

// Validation says whether an object was held against a schema.
type Validation uint8

// Whether an object was held against a schema: it was, it could not be, or its kind may do without.
const (
	Validated    = Validation(looked)
	NotValidated = Validation(notLooked)
	Exempted     = Validation(exempted)
)

// Print prints the defects of o, as far as the mode takes them to be some, and reports whether it
// is valid all the same. how says whether o was held against a schema. Errors of writing show in Close.
func (p *InvalidPrinter) Print(o *manifest.Object, defects []finding.Defect, how Validation) (isValid bool) {
	isValid = true
	p.others.begin(o, seen(how))
	for _, x := range defects {
		if x.Mild && p.mode == IgnoreMode {
			continue
		}
		isWarning := x.Mild && p.mode == WarnMode
		isValid = isValid && isWarning
		p.defect(x, isWarning)
	}
	switch {
	case how != Validated && isValid:
		p.total.NotValidated++
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
		f := defectJSON{x.Object.Ref(), x.Object.View().Path(x.Path), x.Where.Column, x.Class, x.Detail, isWarning}
		f.Line = x.Where.Line
		p.total.Findings = append(p.total.Findings, f)
	case p.others != nil:
		s := p.others.subject(x.Object.File, x.Object.String())
		s.found = append(s.found, result{rule: x.Class, level: level, where: x.Where, message: x.Detail, mild: isWarning})
	default:
		fmt.Fprintf(p.out, "%v: %s%v: %s\n", x.Where, prefix, x.Object, p.paint.Paint(style, x.Detail))
	}
}

// Close prints how much there was, with the notices of the run. It returns the first error of writing.
func (p *InvalidPrinter) Close(notices []notice.Notice) error {
	p.total.ReadProblems = readProblems(notices)
	if p.isJSON {
		p.total.Notices, p.total.NotChecked = noticesJSON(notices), notChecked
		return errors.Join(WriteJSON(p.out, p.total), p.out.Flush())
	}
	if p.others != nil {
		p.others.notChecked = notChecked
		return errors.Join(p.others.write(p.out, notices), p.out.Flush())
	}
	objects := p.total.Valid + p.total.Invalid + p.total.NotValidated
	fmt.Fprintf(p.out, "%s: %d valid, %d invalid, %d not validated%s\n",
		wording.Plural(objects, "object"), p.total.Valid, p.total.Invalid, p.total.NotValidated, showReadProblems(p.total.ReadProblems))
	if p.total.Valid > 0 {
		fmt.Fprintf(p.out, "not checked: %s; a server may refuse more\n", strings.Join(notChecked, ", "))
	}
	return p.out.Flush()
}
