package fieldpath

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	deed "github.com/deed-project/deed/fieldpath"
	deedvalue "github.com/deed-project/deed/value"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ToJSON returns s as fieldsV1. It fails if a path has an element without a field.
func (s *Set) ToJSON() ([]byte, error) {
	if w := s.whole(); w == nil && s.hasNameless() || w != nil && !w.read && isNameless(w.set) {
		return nil, errNameless
	}
	text := texts.Get().(*[]byte)
	defer texts.Put(text)
	*text = s.deed().AppendJSON((*text)[:0])
	return bytes.Clone(*text), nil
}

// texts holds buffers for printing fieldsV1.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// ToJSONStream writes s as fieldsV1 to w. It returns errors of [Set.ToJSON] and of w.
func (s *Set) ToJSONStream(w io.Writer) error {
	text, err := s.ToJSON()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

var errNameless = errors.New("invalid PathElement")

// hasNameless reports whether a path of s has an element without a field.
func (s *Set) hasNameless() bool {
	for _, e := range s.Members.elements() {
		if e.kind() > 3 {
			return true
		}
	}
	for _, n := range s.Children.children() {
		if n.element.kind() > 3 || n.set.hasNameless() {
			return true
		}
	}
	return false
}

// isNameless does the work of hasNameless for a set of deed.
func isNameless(s deed.Set) bool {
	for e := range s.Entries() {
		if e.Element == (deed.Element{}) || isNameless(e.Sub) {
			return true
		}
	}
	return false
}

// FromJSON sets s to the fieldsV1 in r. It skips elements of unknown kinds. After an error, s is empty.
func (s *Set) FromJSON(r io.Reader) error {
	*s = Set{}
	text, err := readAll(r)
	if err != nil {
		return err
	}
	set, err := deed.ParseSet(text)
	if err != nil {
		return err
	}
	if !set.IsEmpty() {
		s.Members.of = &shared{set: set, read: true}
		s.Children.of = s.Members.of
	}
	return nil
}

// readAll returns the rest of r. If r knows its length, readAll allocates once.
func readAll(r io.Reader) ([]byte, error) {
	if sized, ok := r.(interface{ Len() int }); ok {
		text := make([]byte, sized.Len())
		_, err := io.ReadFull(r, text)
		return text, err
	}
	return io.ReadAll(r)
}

// ErrUnknownPathElementType is the error for an element of a kind that fieldsV1 does not have.
var ErrUnknownPathElementType = errors.New("unknown path element type")

// SerializePathElement returns the name of pe in fieldsV1: f:name, k:{"port":80}, v:"item" or i:0.
func SerializePathElement(pe PathElement) (string, error) {
	if pe.kind() > 3 {
		return "", errNameless
	}
	return pe.toDeed().Wire(), nil
}

// DeserializePathElement parses the name of an element in fieldsV1. The element's numbers are floats.
func DeserializePathElement(s string) (PathElement, error) {
	switch {
	case len(s) < 2:
		return PathElement{}, errors.New("key must be 2 characters long")
	case s[1] != ':':
		return PathElement{}, fmt.Errorf("missing colon: %v", s)
	}
	text := s[2:]
	switch s[0] {
	case 'f':
		return PathElement{FieldName: &text}, nil
	case 'i':
		i, err := strconv.Atoi(text)
		if err != nil {
			return PathElement{}, err
		}
		return PathElement{Index: &i}, nil
	case 'v':
		v, err := value.FromJSON([]byte(text))
		if err != nil {
			return PathElement{}, err
		}
		return PathElement{Value: &v}, nil
	case 'k':
		return keyFromJSON(text)
	}
	return PathElement{}, ErrUnknownPathElementType
}

// keyFromJSON returns the element of the key in text: an object, or null for the key without fields.
func keyFromJSON(text string) (PathElement, error) {
	d := deedvalue.Decoder{Repair: true, Repeats: true}
	v, err := d.Parse([]byte(text))
	if err != nil {
		return PathElement{}, err
	}
	if v.Kind() != deedvalue.KindObject && !v.IsNull() {
		return PathElement{}, fmt.Errorf("a key is an object, not %s", v)
	}
	key := make(value.FieldList, 0, v.Len())
	for name, member := range v.Members() {
		key = append(key, value.Field{Name: name, Value: fromDocument(member, true)})
	}
	return PathElement{Key: &key}, nil
}
