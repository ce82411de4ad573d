package keywords

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The order of errors. The library visits the members of an object in random order. Here they come by name, so that equal objects have equal
// errors. Everything else is as in the library: a value's own errors precede those of its parts, and items are in order.

// Segment is a step of the path of a field in an error: a member's name, or what stands in brackets.
type Segment struct {
	Text      string
	Bracketed bool
}

// Segments splits the path of a field, such as spec.list[3].map[a.b/c].
func Segments(path string) []Segment {
	var out []Segment
	for path != "" {
		if key, rest, ok := strings.Cut(path[1:], "]"); path[0] == '[' && ok {
			out, path = append(out, Segment{key, true}), rest
			continue
		}
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end <= 0 {
			end = len(path)
		}
		out, path = append(out, Segment{path[:end], false}), path[end:]
	}
	return out
}

// compare orders steps by name, and indexes as numbers.
func (s Segment) compare(other Segment) int {
	if s.isIndex() && other.isIndex() {
		return cmp.Or(cmp.Compare(len(s.Text), len(other.Text)), strings.Compare(s.Text, other.Text))
	}
	return strings.Compare(s.Text, other.Text)
}

// isIndex reports whether a step leads to an item. A key that looks like an index is taken for one, which does no harm.
func (s Segment) isIndex() bool {
	return s.Bracketed && strings.IndexFunc(s.Text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// ordered sorts errors by the value that they are about. The errors of one value keep the library's order.
func ordered(errs field.ErrorList) field.ErrorList {
	return InOrder(errs, func(e *field.Error) []Segment { return Segments(fieldOf(e)) })
}

// InOrder sorts errors in place by the path of the value that they are about, which path tells. The errors of one value keep their order.
func InOrder(errs field.ErrorList, path func(*field.Error) []Segment) field.ErrorList {
	type located struct {
		*field.Error
		at []Segment
	}
	all := make([]located, len(errs))
	for i, e := range errs {
		all[i] = located{e, path(e)}
	}
	slices.SortStableFunc(all, func(a, b located) int { return slices.CompareFunc(a.at, b.at, Segment.compare) })
	for i, e := range all {
		errs[i] = e.Error
	}
	return errs
}

// fieldOf returns the field of an error. Some errors name it only at the end of their text.
func fieldOf(e *field.Error) string {
	if e.Field != noField {
		return e.Field
	}
	return cmp.Or(behindIn(e.Detail), noField)
}

// behindIn returns what follows the last " in " of a text.
func behindIn(text string) string {
	if at := strings.LastIndex(text, " in "); at >= 0 {
		return text[at+len(" in "):]
	}
	return ""
}

// noField is the field that errors without a path print.
const noField = "<nil>"

// Place returns the field of the value that an error is about, given the field and the text of the error. The library gives no field to errors
// about alternatives and about the size of numbers, and names the value in the text. Place returns "" for the whole object.
func Place(name, text string) string {
	if name != noField {
		return name
	}
	text = strings.TrimPrefix(text, `Invalid value: "": `)
	if quoted, err := strconv.QuotedPrefix(text); err == nil && strings.HasPrefix(text[len(quoted):], " must ") {
		path, _ := strconv.Unquote(quoted) // QuotedPrefix has seen that it is quoted
		return path
	}
	if strings.HasPrefix(text, "Checked value must be of type ") {
		return behindIn(text)
	}
	return ""
}
