package manifest

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Holds reports whether path, in the document of o, leads into the object of o.
func (o Origin) Holds(path []any) bool {
	return len(path) > len(o.Within) && slices.Equal(path[:len(o.Within)], o.Within)
}

// repeated reports the repeated names in the document at from that are outside of its objects.
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

// Explain describes x. view masks its name.
func (o Origin) Explain(view secret.View, x yaml.Repetition) string {
	name, _ := x.Path[len(x.Path)-1].(string)
	return fmt.Sprintf("key %q is already set in line %d", view.Name(name), o.place(x.First, 1).Line)
}
