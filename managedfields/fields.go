package managedfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// The fieldsV1 of an entry in five forms, each as it came, and none turned into another before
// somebody asks:
//
//	string, []byte    JSON text              read by readText, remembered by its hash
//	map[string]any    unstructured objects   read by readMap, compared with what is remembered
//	value.Value       a part of a document   read each time
//	fieldpath.Set     made by a write        is what is asked for

// Fields is the fieldsV1 of an [Entry]: a set of fields in the form in which it came, which is JSON
// text, a part of a document, the map that holds it in an unstructured object, or a set. It is read
// when somebody asks for it, and keeps its form while nobody changes it. It is immutable; the zero
// Fields stands for an entry without fieldsV1, which owns nothing.
type Fields struct {
	_    [0]func() // no ==
	held any       // a string, a []byte, a value.Value, a map[string]any or a fieldpath.Set
}

// FieldsOf returns fields as those of an entry: a set, the text of fieldsV1, or fieldsV1 as a part
// of a document, absent where that is absent or null. Text and documents are not looked at yet;
// nobody may modify the bytes any more, which are not copied.
func FieldsOf[F fieldpath.Set | string | []byte | value.Value](fields F) Fields {
	held := any(fields)
	if document, ok := held.(value.Value); ok && (document.IsAbsent() || document.IsNull()) {
		return Fields{}
	}
	return Fields{held: held}
}

// IsAbsent reports whether the entry has no fieldsV1.
func (f Fields) IsAbsent() bool { return f.held == nil }

// Set returns the set of fields, which is empty for the absent Fields. The error says why what is
// held is no fieldsV1: see [fieldpath.ParseSet].
func (f Fields) Set() (fieldpath.Set, error) {
	r, err := f.read(processCache)
	return r.set, err
}

// read is Set with a memory, and tells what else is known of the set.
func (f Fields) read(c *Cache) (reading, error) {
	if c.budget > 0 {
		switch held := f.held.(type) {
		case string:
			p, err := readText(c, held, maphash.String(hashSeed, held))
			return p.reading(), err
		case []byte:
			p, err := readText(c, held, maphash.Bytes(hashSeed, held))
			return p.reading(), err
		case map[string]any:
			p, err := readMap(c, held, "", 0)
			return p.reading(), err
		}
	}
	return f.parse()
}

// parse is read without a memory.
func (f Fields) parse() (r reading, err error) {
	switch held := f.held.(type) {
	case string:
		r.set, _, r.canonical, err = paths.ParseCanonicalString(held)
	case []byte:
		r.set, _, r.canonical, err = paths.ParseCanonical(held)
	case map[string]any:
		r.set, r.canonical, err = paths.FromAny(held)
	case value.Value:
		r.set, r.canonical, err = paths.FromValue(held)
	case fieldpath.Set:
		r.set, r.canonical = held, true
	}
	return r, err
}

// Equal reports whether f and g are the same set, or, where one of them is none, the same text.
// Absent Fields equal absent ones only.
func (f Fields) Equal(g Fields) bool {
	x, err := f.Set()
	if err == nil {
		var y fieldpath.Set
		y, err = g.Set()
		return err == nil && f.IsAbsent() == g.IsAbsent() && x.Equal(y)
	}
	return f.String() == g.String()
}

// appendJSON appends f as JSON text to b, see Bytes, and null for the absent Fields.
func (f Fields) appendJSON(b []byte) []byte {
	switch held := f.held.(type) {
	case string:
		return append(b, held...)
	case []byte:
		return append(b, held...)
	case nil:
		return append(b, "null"...)
	}
	if r, err := f.read(processCache); err == nil && r.canonical {
		return r.set.AppendJSON(b)
	}
	document, err := f.document()
	if err != nil {
		return append(b, "null"...)
	}
	return document.AppendJSON(b)
}

// Bytes returns f as JSON text, and nil for an entry without fieldsV1. Text is as it came, all else
// in the order of [fieldpath.Set.AppendJSON]; what JSON cannot express, as a map can hold, is null.
// The result must not be modified: it may be what [FieldsOf] was given.
func (f Fields) Bytes() []byte {
	switch held := f.held.(type) {
	case nil:
		return nil
	case []byte:
		return held
	}
	return f.appendJSON(nil)
}

// String returns f as [Fields.Bytes] has it, and null for an entry without fieldsV1.
func (f Fields) String() string {
	switch held := f.held.(type) {
	case string:
		return held
	case fieldpath.Set:
		return paths.JSON(held)
	}
	return string(f.appendJSON(nil))
}

// appendEscaped is appendJSON with the characters escaped that [value.Value.AppendJSON] escapes in
// every string.
func (f Fields) appendEscaped(b []byte) []byte {
	start := len(b)
	b = f.appendJSON(b)
	if !mayNeedEscapes(b[start:]) {
		return b
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, b[start:]) // such characters stand in strings only
	return append(b[:start], escaped.Bytes()...)
}

// mayNeedEscapes reports whether one of the characters that appendEscaped escapes, or a part of
// one, is in text.
func mayNeedEscapes(text []byte) bool {
	for _, c := range [...]byte{'<', '>', '&', "\u2028"[0]} {
		if bytes.IndexByte(text, c) >= 0 {
			return true
		}
	}
	return false
}

// document returns f as a document, and null for the absent Fields. The error says why the text is
// no JSON, or the map no document.
func (f Fields) document() (value.Value, error) {
	switch held := f.held.(type) {
	case string, []byte:
		v, err := value.Parse(f.appendJSON(nil))
		if err != nil {
			return value.Value{}, fmt.Errorf("fieldsV1: %w", err)
		}
		return v, nil
	case value.Value:
		return held, nil
	case map[string]any:
		return value.FromAny(held)
	case fieldpath.Set:
		return paths.Value(held), nil
	}
	return value.Null(), nil
}

// toAny returns f, the fields of owner, as an unstructured object holds it: the map that it came in,
// or one that c remembers.
func (f Fields) toAny(c *Cache, owner string) (any, error) {
	switch held := f.held.(type) {
	case map[string]any:
		return held, nil
	case fieldpath.Set:
		return writeMap(c, held, owner).content, nil
	}
	document, err := f.document()
	return document.ToAny(), err
}
