package form

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Error is the error of a value that its Go type cannot hold.
type Error struct {
	// Path is the path of the value. It names items of lists by their index.
	Path fieldpath.Path

	decoding   string
	converting string
	why        error // why a text is not a quantity
}

// Unwrap returns the reason why a text is not a quantity. It returns nil for other values.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.why
}

// Error returns the error of reading the document as JSON text, in the words of kube-apiserver.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.decoding
}

// Converting returns the error of reading the document that an apply resulted in, in the words of kube-apiserver.
func (e *Error) Converting() string {
	if e == nil {
		return "<nil>"
	}
	return e.converting
}

// mismatch returns the error of a value of another kind than t.
func (w *walk) mismatch(t *Type, v value.Value) *Error {
	return &Error{
		Path:       w.path(),
		decoding:   fmt.Sprintf("json: cannot unmarshal %s into Go %s of type %s", jsonKind(v), w.place(), t),
		converting: converting(t, v),
	}
}

// custom returns the error of a type with a custom decoder.
func (w *walk) custom(reason string) *Error {
	return &Error{Path: w.path(), decoding: reason, converting: reason}
}

// customMismatch returns the error of a type with a custom decoder, for a value of the wrong kind. wanted is the Go
// type that the decoder expects.
func (w *walk) customMismatch(wanted string, v value.Value) *Error {
	return &Error{
		Path:       w.path(),
		decoding:   fmt.Sprintf("json: cannot unmarshal %s into Go %s of type %s", jsonKind(v), w.place(), wanted),
		converting: fmt.Sprintf("json: cannot unmarshal %s into Go value of type %s", jsonKind(v), wanted),
	}
}

// path returns the path of the current value.
func (w *walk) path() fieldpath.Path {
	var p fieldpath.Path
	for _, s := range w.steps {
		if s.named {
			p = append(p, fieldpath.Field(s.name))
		} else {
			p = append(p, fieldpath.Index(s.index))
		}
	}
	return p
}

// place names the current value as encoding/json does. The name has the innermost struct, and the fields and
// embedded structs on the path to the value.
func (w *walk) place() string {
	var b strings.Builder
	owner := ""
	for _, s := range w.steps {
		if s.owner == nil {
			continue // an item of a list or a member of a map
		}
		_, owner, _ = strings.Cut(s.owner.name, ".")
		b.WriteString(".")
		if f := s.owner.lookup(s.name); f != nil {
			b.WriteString(f.embedded)
		}
		b.WriteString(s.name)
	}
	if owner == "" {
		return "value"
	}
	return "struct field " + owner + b.String()
}

// jsonKind returns the kind of v in the words of encoding/json.
func jsonKind(v value.Value) string {
	switch v.Kind() {
	case value.KindBool:
		return "bool"
	case value.KindInt, value.KindFloat:
		return "number"
	case value.KindString:
		return "string"
	case value.KindList:
		return "array"
	}
	return "object"
}

// converting returns the error of converting v to t, in the words of the conversion of maps to structs.
func converting(t *Type, v value.Value) string {
	goKind := map[value.Kind]string{
		value.KindBool: "bool", value.KindInt: "int64", value.KindFloat: "float64", value.KindString: "string",
		value.KindList: "slice", value.KindObject: "map",
	}[v.Kind()]
	switch t.kind {
	case kindMap:
		return "cannot restore map from " + goKind
	case kindList, kindBytes:
		return "cannot restore slice from " + goKind
	case kindStruct:
		return "cannot restore struct from: " + goKind
	}
	number := v.Kind() == value.KindInt || v.Kind() == value.KindFloat
	if number && (t.isNumber() || t.kind == kindString && v.Kind() == value.KindInt) {
		return fmt.Sprintf("cannot convert %s to %s", goKind, t)
	}
	return "unrecognized type: " + t.basic()
}

func (t *Type) isNumber() bool {
	return t.kind == kindInt32 || t.kind == kindInt64 || t.kind == kindFloat
}

// basic returns the Go name of a basic type.
func (t *Type) basic() string {
	for name, k := range basics {
		if k == t.kind {
			return name
		}
	}
	return ""
}

// String returns the type as Go prints it.
func (t *Type) String() string {
	t = t.known()
	switch {
	case t.kind == kindStruct:
		_, name, _ := strings.Cut(t.name, "/")
		return name
	case t.name != "":
		return t.name
	}
	switch t.kind {
	case kindPointer:
		return "*" + t.elem.String()
	case kindList:
		return "[]" + t.elem.String()
	case kindMap:
		key := t.key
		if key == "" {
			key = "string"
		}
		return "map[" + key + "]" + t.elem.String()
	case kindBytes:
		return "[]uint8"
	case kindQuantity:
		return "resource.Quantity"
	}
	return t.basic()
}
