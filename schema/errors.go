package schema

import "fmt"

// Error is one defect of a schema. [ParseDocument] returns the defects of a text. [Compile] returns
// the defects of a [Document].
type Error struct {
	Type string // the type definition with the defect; empty for errors of ParseDocument
	// Path is the place of the defect. ParseDocument gives a path in the text, such as
	// .types[name="a"].map.fields[name="b"].type. Compile gives a path in the definition of Type,
	// such as map.fields[spec].type. It is empty if the defect is about the whole text or
	// definition.
	Path   string
	Reason string
}

// Error returns the reason with its place.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	out := e.Reason
	if e.Path != "" {
		out = e.Path + ": " + out
	}
	if e.Type != "" {
		out = fmt.Sprintf("type %q: %s", e.Type, out)
	}
	return out
}
