package secret

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Value is a value with its secrets masked. The zero Value is absent.
type Value struct{ shown value.Value }

// FromJSON parses text, which must consist of masked values.
func FromJSON(text []byte) (Value, error) {
	v, err := value.Parse(text)
	return Value{v}, err
}

// Public returns v unmasked. v must not be part of an object, but of a schema, a table of rules or a text of deed itself. A [View] masks
// values of objects.
func Public(v value.Value) Value { return Value{v} }

// Unplaced describes the kind of v and shows no part of its value. It is for values without a known place in an object.
func Unplaced(v value.Value) string {
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return v.Kind().String()
	case value.KindInt, value.KindObject:
		return "an " + v.Kind().String()
	case value.KindList:
		return "a list of " + wording.Plural(v.Len(), "item")
	}
	return "a " + v.Kind().String()
}

// Product returns o with its secrets and managed fields, for outputs that are the object itself. The error names an entry whose fieldsV1 is
// no JSON text.
func Product(o managedfields.Object) (Value, error) {
	v, err := o.Value()
	return Value{v}, err
}

// IsAbsent reports whether there is no value.
func (v Value) IsAbsent() bool { return v.shown.IsAbsent() }

// IsZero is IsAbsent, for JSON members that are omitted if there is no value.
func (v Value) IsZero() bool { return v.shown.IsAbsent() }

// Equal reports whether v and w are shown alike. Different secrets have different masks, see [View.Pair].
func (v Value) Equal(w Value) bool { return v.shown.Equal(w.shown) }

// IsList reports whether v is a list.
func (v Value) IsList() bool { return v.shown.Kind() == value.KindList }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.shown.Kind() == value.KindObject }

// IsString reports whether v is a string, such as a mask.
func (v Value) IsString() bool { return v.shown.Kind() == value.KindString }

// Len returns the number of shown items or members.
func (v Value) Len() int { return v.shown.Len() }

// Item returns item i of a list.
func (v Value) Item(i int) Value { return Value{v.shown.Item(i)} }

// Member returns member i of an object, in the order of names.
func (v Value) Member(i int) (name string, member Value) {
	m := v.shown.Member(i)
	return m.Name, Value{m.Value}
}

// AppendName appends the name of member i of an object as JSON.
func (v Value) AppendName(b []byte, i int) []byte {
	return value.String(v.shown.Member(i).Name).AppendJSON(b)
}

// AppendJSON appends v as canonical JSON.
func (v Value) AppendJSON(b []byte) []byte { return v.shown.AppendJSON(b) }

// MarshalJSON returns v as canonical JSON.
func (v Value) MarshalJSON() ([]byte, error) { return v.shown.MarshalJSON() }

// AppendYAML appends v as a YAML document.
func (v Value) AppendYAML(b []byte) []byte { return yaml.Append(b, v.shown) }

// WriteYAML writes v as a YAML document.
func (v Value) WriteYAML(out io.Writer) error { return yaml.Write(out, v.shown) }

// String returns v for messages: JSON in one line, shortened if it is long.
func (v Value) String() string { return showFrom([]rune(inLine(v.shown)), 0, v.shown) }

// maxShown is the maximum number of characters of a value in messages.
const maxShown = 72

// unescape undoes the escapes that JSON needs only inside HTML. It skips escaped backslashes.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Texts returns two values as String does. If they are too long to show their first difference, it drops their common beginning.
func Texts(x, y Value) (string, string) {
	v, w := x.shown, y.shown
	a, b := []rune(inLine(v)), []rune(inLine(w))
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := 0
	if same+maxShown/4 > maxShown && max(len(a), len(b)) > maxShown {
		from = same - maxShown/4
	}
	return showFrom(a, from, v), showFrom(b, from, w)
}

// showFrom returns as much of text, the text of v, as fits, starting at a character.
func showFrom(text []rune, from int, v value.Value) string {
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	rest := text[from:]
	if len(rest) > maxShown {
		rest, after = rest[:maxShown], "…"
	}
	if before+after == "" {
		return string(rest)
	}
	return before + string(rest) + after + " (" + size(v, len(text)) + ")"
}

// inLine returns v as JSON, or in words if it is absent.
func inLine(v value.Value) string {
	switch {
	case v.IsAbsent():
		return "(not set)"
	case isMask(v):
		return v.Str()
	}
	return unescape.Replace(v.String())
}

// size describes the length of v, whose JSON text has the given number of characters.
func size(v value.Value, characters int) string {
	switch v.Kind() {
	case value.KindString:
		return wording.Plural(utf8.RuneCountInString(v.Str()), "character")
	case value.KindList:
		return wording.Plural(v.Len(), "item") + ", " + wording.Plural(characters, "character")
	case value.KindObject:
		return wording.Plural(v.Len(), "member") + ", " + wording.Plural(characters, "character")
	}
	return wording.Plural(characters, "character")
}
