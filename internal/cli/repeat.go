package cli

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
)

// repeatedClass is that of findings about names that an object has twice.
const repeatedClass = "duplicate-name"

// holds reports whether path, in the document of o, leads into what o is.
func (o origin) holds(path []any) bool {
	return len(path) > len(o.within) && slices.Equal(path[:len(o.within)], o.within)
}

// repeated reports the names that are repeated in the document at from, but in none of the objects that were taken out of it.
func (r *reader) repeated(from origin, objects []*object) {
	for _, x := range from.doc.Repeated {
		if !slices.ContainsFunc(objects, func(o *object) bool { return o.holds(x.Path) }) {
			r.problem(from.repetition(x), "%s", from.explain(x))
		}
	}
}

// repetition returns the position of x.
func (o origin) repetition(x yaml.Repetition) position {
	return position{file: o.file, line: x.Line + o.above(), column: x.Column}
}

// explain says what is wrong with x.
func (o origin) explain(x yaml.Repetition) string {
	return fmt.Sprintf("key %q is already set in line %d", x.Path[len(x.Path)-1], x.First+o.above())
}

// repetitions returns the names that are repeated in o.
func repetitions(o *object) []invalidJSON {
	var out []invalidJSON
	for _, x := range o.doc.Repeated {
		if !o.holds(x.Path) {
			continue
		}
		var path fieldpath.Path
		for _, step := range x.Path[len(o.within):] {
			switch step := step.(type) {
			case string:
				path = append(path, fieldpath.Field(step))
			case int:
				path = append(path, fieldpath.Index(step))
			}
		}
		where := o.repetition(x)
		found := invalidJSON{
			objectJSON: o.json(), Path: path.Text(), Class: repeatedClass, Column: where.column,
			Detail: path.Text() + ": " + o.explain(x), where: where, subject: o,
		}
		found.Line = where.line
		out = append(out, found)
	}
	return out
}
