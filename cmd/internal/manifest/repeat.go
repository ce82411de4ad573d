package manifest

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Holds reports whether path, in the document of o, leads into what o is.
func (o Origin) Holds(path []any) bool {
	return len(path) > len(o.Within) && slices.Equal(path[:len(o.Within)], o.Within)
}

// repeated reports the names that are repeated in the document at from, but in none of the objects
// that were taken out of it.
func (r *Reader) repeated(from Origin, objects []*Object) {
	for _, x := range from.Doc.Repeated {
		if !slices.ContainsFunc(objects, func(o *Object) bool { return o.Holds(x.Path) }) {
			r.Refuse(from.Repetition(x), "%s", from.Explain(r.Secrets.View(value.Value{}), x))
		}
	}
}

// Repetition returns the position of x.
func (o Origin) Repetition(x yaml.Repetition) notice.Position {
	return o.place(x.Line, x.Column)
}

// Explain says what is wrong with x, in what is seen as view has it.
func (o Origin) Explain(view secret.View, x yaml.Repetition) string {
	name, _ := x.Path[len(x.Path)-1].(string)
	return fmt.Sprintf("key %q is already set in line %d", view.Name(name), o.place(x.First, 1).Line)
}
