package report

import (
	"errors"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
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

// Add adds the findings of an object, as far as the mode takes them to be some, and reports whether it is valid all the same.
func (v *ValidationJSON) Add(mode string, findings []InvalidJSON) (isValid bool) {
	isValid = true
	for _, x := range findings {
		mild := x.Class == repeatedClass || x.Class == classes[typed.Undeclared] || x.Class == classes[typed.Duplicate]
		if mild && mode == IgnoreMode {
			continue
		}
		x.Warning = mild && mode == WarnMode
		isValid = isValid && x.Warning
		v.Findings = append(v.Findings, x)
	}
	return isValid
}

// Invalid returns where o is not as its schema wants it.
func Invalid(o *manifest.Object, e *types.Endpoint) []InvalidJSON {
	_, err := typed.New(o.Content, e.Typ)
	var defects typed.Errors
	if !errors.As(err, &defects) {
		return nil
	}
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
