package difftest

import (
	"fmt"

	"github.com/deed-project/deed/internal/gen"
	"github.com/deed-project/deed/schema"
)

func documentOf(s *gen.Schema) string {
	out := ""
	for _, t := range s.Document.Types {
		out += t.Name + ": " + showAtom(t.Atom) + "\n"
	}
	return out
}

func showAtom(a schema.Atom) string {
	out := ""
	if a.Scalar != 0 {
		out += a.Scalar.String() + " "
	}
	if a.List != nil {
		out += fmt.Sprintf("list<%s %q of %s>", a.List.Relationship, a.List.Keys, showRef(a.List.ElementType))
	}
	if a.Map != nil {
		out += "map<" + string(a.Map.Relationship)
		for _, f := range a.Map.Fields {
			out += fmt.Sprintf(" %q(=%v): %s", f.Name, f.Default, showRef(f.Type))
		}
		out += " *: " + showRef(a.Map.ElementType) + ">"
	}
	return out
}

func showRef(r schema.TypeRef) string {
	return string(r.Relationship) + r.NamedType + showAtom(r.Inlined)
}
