package finding

import (
	"errors"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// Defect is one place where an object violates its schema.
type Defect struct {
	Object *manifest.Object
	Path   fieldpath.Path
	Where  notice.Position
	Class  string // one word for the kind of defect
	Detail string
	// Mild says that a server accepts the object nevertheless, unless it validates strictly.
	Mild bool
}

// The classes of defects besides those of values.
const (
	repeatedClass   = "duplicate-name" // a name that occurs twice in an object
	definitionClass = "schema"         // a schema in a CustomResourceDefinition that no server accepts
)

// classes maps the reasons for which values violate a schema to classes.
var classes = map[typed.Reason]string{
	typed.WrongKind: "mistyped", typed.Undeclared: "unknown", typed.Unidentified: "no-key", typed.Duplicate: "duplicate",
	typed.BadSchema: "schema",
}

// Repetitions returns the repeated names in o.
func Repetitions(o *manifest.Object) []Defect {
	var out []Defect
	view := o.View()
	for _, x := range o.Doc.Repeated {
		if !o.Holds(x.Path) {
			continue
		}
		path := pathOf(x.Path[len(o.Within):])
		out = append(out, Defect{o, path, o.Repetition(x), repeatedClass, view.Path(path) + ": " + o.Explain(view, x), true})
	}
	return out
}

// pathOf returns the path of steps, each the name of a member or the index of an item.
func pathOf(steps []any) fieldpath.Path {
	var path fieldpath.Path
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			path = append(path, fieldpath.Field(step))
		case int:
			path = append(path, fieldpath.Index(step))
		}
	}
	return path
}

// definitionDefects returns the defects of the definitions in o, a CustomResourceDefinition.
func definitionDefects(o *manifest.Object) []Defect {
	var out []Defect
	for _, err := range types.ReadDefinition(o).Errors() {
		path := pathOf(types.StepsInDefinition(o, err))
		out = append(out, Defect{o, path, types.PlaceInDefinition(o, err), definitionClass, types.ReasonInDefinition(err), false})
	}
	return out
}

// DefectOf returns the defect of o that f is about.
func DefectOf(o *manifest.Object, f types.Finding) Defect {
	detail := f.Text(o.View())
	if len(f.Path) > 0 {
		detail = o.View().Path(f.Path) + ": " + detail
	}
	return Defect{o, f.Path, o.At(o.Find().Steps(f.Path)...), f.Class, detail, false}
}

// Violations returns the places where o violates its schema.
func Violations(o *manifest.Object, e *types.Endpoint) []Defect {
	_, err := typed.New(o.Content, e.Typ)
	var invalid typed.Errors
	errors.As(err, &invalid)
	var out []Defect
	for _, d := range invalid {
		isMild := d.Reason == typed.Undeclared || d.Reason == typed.Duplicate
		out = append(out, Defect{o, d.Path, o.DefectAt(d), classes[d.Reason], types.Explain(o, d, e.Typ), isMild})
	}
	return out
}

// Refusals returns the reasons why a server refuses o that are known without one. found are the violations of the schema: there are no reasons
// if a value has a wrong type.
func Refusals(o *manifest.Object, e *types.Endpoint, found []Defect) []Defect {
	if slices.ContainsFunc(found, func(d Defect) bool { return d.Class == classes[typed.WrongKind] }) {
		return nil
	}
	var out []Defect
	for _, f := range e.Reading(o.Content) {
		out = append(out, DefectOf(o, f))
	}
	if types.IsDefinition(o.Content) {
		out = append(out, definitionDefects(o)...)
	}
	return out
}
