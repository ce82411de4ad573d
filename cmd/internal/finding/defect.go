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

// Defect is one place where an object is not as its schema wants it.
type Defect struct {
	Object *manifest.Object
	Path   fieldpath.Path
	Where  notice.Position
	Class  string // in a word, what kind of defect it is
	Detail string
	// Mild says that a server takes the object all the same, unless it is told to be strict.
	Mild bool
}

// The classes of what is not about values that do not conform.
const (
	repeatedClass   = "duplicate-name" // a name that an object has twice
	definitionClass = "schema"         // a schema in a CustomResourceDefinition that no server accepts
)

// classes are those of the reasons for which values do not conform.
var classes = map[typed.Reason]string{
	typed.WrongKind: "mistyped", typed.Undeclared: "unknown", typed.Unidentified: "no-key", typed.Duplicate: "duplicate",
	typed.BadSchema: "schema",
}

// Repetitions returns the names that are repeated in o.
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

// pathOf returns the path of steps, each the name of a member or the number of an item.
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

// definitionDefects returns what is wrong with what o, a CustomResourceDefinition, defines.
func definitionDefects(o *manifest.Object) []Defect {
	var out []Defect
	for _, err := range types.ReadDefinition(o).Errors() {
		path := pathOf(types.StepsInDefinition(o, err))
		out = append(out, Defect{o, path, types.PlaceInDefinition(o, err), definitionClass, types.ReasonInDefinition(err), false})
	}
	return out
}

// Defects returns where o is not as its schema wants it, and, if its values are of the right types,
// what else a server refuses of it as far as that is known.
func Defects(o *manifest.Object, e *types.Endpoint) []Defect {
	_, err := typed.New(o.Content, e.Typ)
	var invalid typed.Errors
	errors.As(err, &invalid)
	var out []Defect
	for _, d := range invalid {
		isMild := d.Reason == typed.Undeclared || d.Reason == typed.Duplicate
		out = append(out, Defect{o, d.Path, o.DefectAt(d), classes[d.Reason], types.Explain(o, d, e.Typ), isMild})
	}
	if slices.ContainsFunc(invalid, func(d *typed.Error) bool { return d.Reason == typed.WrongKind }) {
		return out
	}
	for _, f := range e.Reading(o.Content) {
		where := o.At(manifest.Steps(o.Content, f.Path)...)
		out = append(out, Defect{o, f.Path, where, f.Class, o.View().Path(f.Path) + ": " + f.Text(o.View()), false})
	}
	if types.IsDefinition(o.Content) {
		out = append(out, definitionDefects(o)...)
	}
	return out
}
