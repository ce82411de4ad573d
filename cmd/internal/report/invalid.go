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

// validationJSON is the output of deed validate in JSON.
type validationJSON struct {
	Valid        int          `json:"valid"`
	Invalid      int          `json:"invalid"`
	NotValidated int          `json:"notValidated"` // objects without a usable schema
	ReadProblems int          `json:"readProblems"` // the number of files, documents and objects that could not be read
	Findings     []defectJSON `json:"findings"`
	Notices      []noticeJSON `json:"notices"`
	NotChecked   []string     `json:"notChecked"`
}

// notChecked lists the checks of servers that validation leaves out with a server, and without one.
var notChecked = map[bool][]string{true: {"webhooks", "whether other objects of the cluster exist or allow it"}, false: {
	"CEL rules", "some rules of built-in kinds", "admission",
}}

// defectJSON is one place where an object violates its schema.
type defectJSON struct {
	manifest.Ref
	Path    string `json:"path"`
	Column  int    `json:"column"`
	Class   string `json:"class"`
	Detail  string `json:"detail"`
	Warning bool   `json:"warning,omitempty"`
}

// InvalidPrinter prints the defects of objects, object by object, and their number.
type InvalidPrinter struct {
	out    *bufio.Writer
	isJSON bool
	mode   string // StrictMode, WarnMode or IgnoreMode
	paint  Painter
	full   bool // whether a server validates
	total  validationJSON
	others *results // nil for text and JSON
}

// NewInvalidPrinter returns a printer to out in the format text, JSON, SARIF or JUnit. full says whether a server validates.
func NewInvalidPrinter(out io.Writer, format, mode string, full bool, paint Painter) *InvalidPrinter {
	return &InvalidPrinter{
		out: bufio.NewWriter(out), isJSON: format == FormatJSON, mode: mode, full: full, paint: paint,
		total: validationJSON{Findings: []defectJSON{}}, others: newResults(format, "deed validate"),
	}
}

// Validation says whether an object was checked against a schema.
type Validation uint8

// The values of Validation: the object was checked, it could not be checked, or its kind needs no check.
const (
	Validated    = Validation(looked)
	NotValidated = Validation(notLooked)
	Exempted     = Validation(exempted)
)

// Print prints the defects of o that count in the mode, and reports whether o is valid nevertheless. how says whether o was checked against
// a schema. Close returns errors of writing.
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

// defect prints x, or buffers it for formats that begin with a sum.
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

// Close prints the counts and the notices of the run. It returns the first error of writing.
func (p *InvalidPrinter) Close(notices []notice.Notice) error {
	p.total.ReadProblems = readProblems(notices)
	if p.isJSON {
		p.total.Notices, p.total.NotChecked = noticesJSON(notices), notChecked[p.full]
		return errors.Join(WriteJSON(p.out, p.total), p.out.Flush())
	}
	if p.others != nil {
		p.others.notChecked = notChecked[p.full]
		return errors.Join(p.others.write(p.out, notices), p.out.Flush())
	}
	objects := p.total.Valid + p.total.Invalid + p.total.NotValidated
	fmt.Fprintf(p.out, "%s: %d valid, %d invalid, %d not validated%s\n",
		wording.Plural(objects, "object"), p.total.Valid, p.total.Invalid, p.total.NotValidated, showReadProblems(p.total.ReadProblems))
	if p.total.Valid > 0 {
		fmt.Fprintf(p.out, "not checked: %s; a server may refuse more\n", strings.Join(notChecked[p.full], ", "))
	}
	return p.out.Flush()
}
