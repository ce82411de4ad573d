package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/typed"
)

// repeatedClass is that of findings about names that an object has twice.
const repeatedClass = "duplicate-name"

// Repetitions returns the names that are repeated in o.
func Repetitions(o *manifest.Object) []InvalidJSON {
	var out []InvalidJSON
	for _, x := range o.Doc.Repeated {
		if !o.Holds(x.Path) {
			continue
		}
		var path fieldpath.Path
		for _, step := range x.Path[len(o.Within):] {
			switch step := step.(type) {
			case string:
				path = append(path, fieldpath.Field(step))
			case int:
				path = append(path, fieldpath.Index(step))
			}
		}
		where := o.Repetition(x)
		found := InvalidJSON{
			Ref: o.Ref(), Path: path.Text(), Class: repeatedClass, Column: where.Column,
			Detail: path.Text() + ": " + o.Explain(x), Where: where, Subject: o,
		}
		found.Line = where.Line
		out = append(out, found)
	}
	return out
}

// The modes of validation, as in kubectl.
const (
	StrictMode = "strict"
	WarnMode   = "warn"
	IgnoreMode = "ignore"
)

// ValidationJSON is the outcome of deed validate.
type ValidationJSON struct {
	Valid    int           `json:"valid"`
	Invalid  int           `json:"invalid"`
	Untyped  int           `json:"withoutSchema"`
	Findings []InvalidJSON `json:"findings"`
}

// InvalidJSON is one place where an object is not as its schema wants it.
type InvalidJSON struct {
	manifest.Ref
	Path    string `json:"path"`
	Column  int    `json:"column"`
	Class   string `json:"class"`
	Detail  string `json:"detail"`
	Warning bool   `json:"warning,omitempty"`

	Where   notice.Position  `json:"-"`
	Subject *manifest.Object `json:"-"`
}

// classes name the reasons for which values do not conform.
var classes = map[typed.Reason]string{
	typed.WrongKind: "mistyped", typed.Undeclared: "unknown", typed.Unidentified: "no-key", typed.Duplicate: "duplicate",
	typed.BadSchema: "schema",
}

// InvalidPrinter prints what is invalid, object by object, and how much there is.
type InvalidPrinter struct {
	out    *bufio.Writer
	isJSON bool
	mode   string // StrictMode, WarnMode or IgnoreMode
	paint  Painter
	total  ValidationJSON
	others *results // nil for text and JSON
}

// NewInvalidPrinter returns the printer that writes to out in one of the formats text, JSON, SARIF and JUnit.
func NewInvalidPrinter(out io.Writer, format, mode string, paint Painter) *InvalidPrinter {
	return &InvalidPrinter{
		out: bufio.NewWriter(out), isJSON: format == FormatJSON, mode: mode, paint: paint,
		total: ValidationJSON{Findings: []InvalidJSON{}}, others: newResults(format, "deed validate"),
	}
}

// Print prints the findings of o, as far as the mode takes them to be some, and reports whether it is valid all the same.
// isTyped says whether its kind has a schema. Errors of writing show in Close.
func (p *InvalidPrinter) Print(o *manifest.Object, findings []InvalidJSON, isTyped bool) (isValid bool) {
	isValid = true
	if p.others.begin(o); p.others != nil && !isTyped {
		p.others.subject(o.File, o.String()).skipped = "no schema describes the kind"
	}
	for _, x := range findings {
		mild := x.Class == repeatedClass || x.Class == classes[typed.Undeclared] || x.Class == classes[typed.Duplicate]
		if mild && p.mode == IgnoreMode {
			continue
		}
		x.Warning = mild && p.mode == WarnMode
		isValid = isValid && x.Warning
		switch {
		case p.isJSON:
			x.Subject = nil // is not held on to
			p.total.Findings = append(p.total.Findings, x)
		case p.others != nil:
			s := p.others.subject(o.File, o.String())
			s.found = append(s.found, x.result())
		default:
			p.line(x)
		}
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

// result returns x for the formats of other programs.
func (x InvalidJSON) result() result {
	out := result{rule: x.Class, level: levelError, where: x.Where, message: x.Detail, mild: x.Warning}
	if x.Warning {
		out.level = levelWarning
	}
	return out
}

func (p *InvalidPrinter) line(x InvalidJSON) {
	prefix, style := "", Red
	if x.Warning {
		prefix, style = "warning: ", Yellow
	}
	fmt.Fprintf(p.out, "%v: %s%v: %s\n", x.Where, prefix, x.Subject, p.paint.Paint(style, x.Detail))
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

// Invalid returns where o is not as its schema wants it, and, if its values are of the right types, what else a server refuses of it
// as far as that is known.
func Invalid(o *manifest.Object, e *types.Endpoint) []InvalidJSON {
	_, err := typed.New(o.Content, e.Typ)
	var defects typed.Errors
	errors.As(err, &defects)
	out := invalidTypes(o, e, defects)
	if slices.ContainsFunc(defects, func(d *typed.Error) bool { return d.Reason == typed.WrongKind }) {
		return out
	}
	for _, f := range e.Reading(o.Content) {
		where := o.At(manifest.Steps(o.Content, f.Path)...)
		x := InvalidJSON{
			Ref: o.Ref(), Path: f.Path.Text(), Class: f.Class, Column: where.Column, Detail: f.Path.String() + ": " + f.String(),
			Where: where, Subject: o,
		}
		x.Line = where.Line
		out = append(out, x)
	}
	return out
}

// invalidTypes returns defects of o.
func invalidTypes(o *manifest.Object, e *types.Endpoint, defects typed.Errors) []InvalidJSON {
	var out []InvalidJSON
	for _, d := range defects {
		where := o.DefectAt(d)
		x := InvalidJSON{
			Ref: o.Ref(), Path: d.Path.Text(), Class: classes[d.Reason], Column: where.Column, Detail: types.Explain(o, d, e.Typ),
			Where: where, Subject: o,
		}
		x.Line = where.Line
		out = append(out, x)
	}
	return out
}
