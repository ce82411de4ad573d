package schema

import "fmt"

// Error is one defect of a schema: [ParseDocument] says where a text is no [Document], [Compile]
// where a document is no schema.
type Error struct {
	Type string // the name of the type definition that Compile found it in; empty from ParseDocument
	// Path is the place: in the text, such as .types[name="a"].map.fields[name="b"].type, or in the
	// definition of Type, such as map.fields[spec].type. It is empty for the whole of it.
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
