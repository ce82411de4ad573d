package fieldpath

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Path leads from an object to one of its fields or items.
type Path []PathElement

// String returns fp as messages show it.
func (fp Path) String() string {
	var b strings.Builder
	for _, e := range fp {
		b.WriteString(e.String())
	}
	return b.String()
}

// Equals reports whether both paths have equal elements.
func (fp Path) Equals(fp2 Path) bool { return slices.EqualFunc(fp, fp2, PathElement.Equals) }

// Compare returns -1, 0 or 1 as fp sorts before, with or after rhs: by the first elements that differ. A prefix of a path
// sorts before the path.
func (fp Path) Compare(rhs Path) int { return slices.CompareFunc(fp, rhs, PathElement.Compare) }

// Copy returns a copy of fp. It shares the elements of fp.
func (fp Path) Copy() Path { return append(make(Path, 0, len(fp)), fp...) }

// MakePath returns the path of parts. A part is a string, the name of a member; an int, the position of an item; a
// [*value.FieldList] that is not empty, the key of an item; a [value.Value], which an item equals; or a [PathElement].
func MakePath(parts ...interface{}) (Path, error) {
	var path Path
	for _, part := range parts {
		e, ok, err := elementOf(part)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("unable to make %#v into a path element", part)
		}
		path = append(path, e)
	}
	return path, nil
}

// elementOf returns the element for a part of [MakePath]. ok is false if part has another type.
func elementOf(part interface{}) (_ PathElement, ok bool, _ error) {
	switch part := part.(type) {
	case PathElement:
		return part, true, nil
	case string:
		return PathElement{FieldName: &part}, true, nil
	case int:
		return PathElement{Index: &part}, true, nil
	case *value.FieldList:
		if len(*part) == 0 {
			return PathElement{}, true, fmt.Errorf("associative list key type path elements must have at least one key (got zero)")
		}
		return PathElement{Key: part}, true, nil
	case value.Value:
		return PathElement{Value: &part}, true, nil
	}
	return PathElement{}, false, nil
}

// MakePathOrDie works like [MakePath], but panics on an error. It is for parts that are written in a program.
func MakePathOrDie(parts ...interface{}) Path {
	path, err := MakePath(parts...)
	if err != nil {
		panic(err)
	}
	return path
}
