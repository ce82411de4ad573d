package managedfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// The fieldsV1 of an entry, in five forms. A form is converted to another form only on demand:
//
//	string, []byte    JSON text              read by readText, cached by its hash
//	map[string]any    unstructured objects   read by readMap, compared with the cached set
//	value.Value       a part of a document   read each time
//	fieldpath.Set     made by a write        needs no reading

// Fields is the fieldsV1 of an [Entry]: a set of fields in the form in which it came. The form is
// JSON text, a part of a document, the map of an unstructured object, or a set. Fields reads the
// set on demand and keeps its form. It is immutable. The zero Fields stands for an entry without
// fieldsV1, which owns nothing.
type Fields struct {
	_    [0]func() // no ==
	held any       // a string, a []byte, a value.Value, a map[string]any or a fieldpath.Set
}

// FieldsOf returns the Fields for a set, the text of fieldsV1, or fieldsV1 as a part of a document.
// An absent or null document gives the absent Fields. FieldsOf does not check texts and documents.
// It does not copy a []byte; the caller must not modify the bytes afterwards.
func FieldsOf[F fieldpath.Set | string | []byte | value.Value](fields F) Fields {
	held := any(fields)
	if document, ok := held.(value.Value); ok && (document.IsAbsent() || document.IsNull()) {
		return Fields{}
	}
	return Fields{held: held}
}

// IsAbsent reports whether the entry has no fieldsV1.
func (f Fields) IsAbsent() bool { return f.held == nil }

// Set returns the set of fields, which is empty for the absent Fields. It returns an error if the
// form holds no valid fieldsV1: see [fieldpath.ParseSet].
func (f Fields) Set() (fieldpath.Set, error) {
	r, err := f.read(processCache)
	return r.set, err
}

// read returns the set and its further properties. It uses the cache c.
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

// parse is read without a cache.
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

// Equal reports whether f and g are the same set. If f is no valid set, Equal compares the texts of
// f and g. Absent Fields equal absent Fields only.
func (f Fields) Equal(g Fields) bool {
	x, err := f.Set()
	if err == nil {
		var y fieldpath.Set
		y, err = g.Set()
		return err == nil && f.IsAbsent() == g.IsAbsent() && x.Equal(y)
	}
	return f.String() == g.String()
}

// appendJSON appends the result of Bytes to b, and null for the absent Fields.
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

// Bytes returns f as JSON text, and nil for an entry without fieldsV1. Text stays as it came. A set
// that came in canonical form is printed as by [fieldpath.Set.AppendJSON], and other content as by
// [value.Value.AppendJSON]. A map that JSON cannot express is printed as null. The caller must not
// modify the result: it may be the argument of [FieldsOf].
func (f Fields) Bytes() []byte {
	switch held := f.held.(type) {
	case nil:
		return nil
	case []byte:
		return held
	}
	return f.appendJSON(nil)
}

// String returns the text of [Fields.Bytes], and null for an entry without fieldsV1.
func (f Fields) String() string {
	switch held := f.held.(type) {
	case string:
		return held
	case fieldpath.Set:
		return paths.JSON(held)
	}
	return string(f.appendJSON(nil))
}

// appendEscaped is appendJSON, but escapes the characters that [value.Value.AppendJSON] escapes in
// every string.
func (f Fields) appendEscaped(b []byte) []byte {
	start := len(b)
	b = f.appendJSON(b)
	if !mayNeedEscapes(b[start:]) {
		return b
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, b[start:]) // these characters occur in strings only
	return append(b[:start], escaped.Bytes()...)
}

// mayNeedEscapes reports whether text contains a character that appendEscaped escapes, or the first
// byte of one.
func mayNeedEscapes(text []byte) bool {
	for _, c := range [...]byte{'<', '>', '&', "\u2028"[0]} {
		if bytes.IndexByte(text, c) >= 0 {
			return true
		}
	}
	return false
}

// document returns f as a document, and null for the absent Fields. It returns an error if the text
// is no JSON, or if the map is no document.
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

// toAny returns f as an unstructured object holds it: the map in which f came, a map from the cache
// c, or a new map. owner is the manager of the fields.
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
