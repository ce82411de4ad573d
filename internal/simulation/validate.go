package simulation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// fieldError is one cause of an invalid object, as the server words it.
type fieldError struct{ reason, field, message string }

// validator finds where an object does not conform to its schema. An update puts up with what was wrong before in the same
// place: lists are compared item by item only where keys tell which items correspond.
type validator struct{ base string } // of the paths in error fields; messages lack it

// validate returns what is wrong with v. old, absent when there is none, is what stood in v's place.
func (d validator) validate(s *rules, v, old value.Value, path string) []fieldError {
	if s == nil {
		return nil
	}
	var errs []fieldError
	if !s.admits(v) {
		errs = append(errs, d.wrongType(s, v, path))
	}
	switch v.Kind() {
	case value.KindObject:
		errs = append(errs, d.members(s, v, old, path)...)
	case value.KindList:
		for i := range v.Len() {
			errs = append(errs, d.validate(s.items, v.Item(i), s.counterpart(v.Item(i), old), fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	if len(errs) > 0 && !old.IsAbsent() && s.unchanged(v, old) {
		return nil
	}
	return errs
}

func (d validator) members(s *rules, v, old value.Value, path string) []fieldError {
	var errs []fieldError
	for name, member := range v.Members() {
		child, _ := s.child(name)
		errs = append(errs, d.validate(child, member, old.Get(name), strings.TrimPrefix(path+"."+name, "."))...)
	}
	for _, name := range s.required {
		if v.Get(name).IsAbsent() {
			errs = append(errs, fieldError{"FieldValueRequired", d.field(path + "." + name), "Required value"})
		}
	}
	return errs
}

func (d validator) field(path string) string {
	return strings.Trim(d.base+"."+strings.TrimPrefix(path, "."), ".")
}

func (d validator) wrongType(s *rules, v value.Value, path string) fieldError {
	typ := typeOf(v)
	message := fmt.Sprintf("Invalid value: %q: %s in body must be of type %s: %q", typ, path, strings.Join(s.types, ","), typ)
	return fieldError{"FieldValueTypeInvalid", d.field(path), message}
}

// admits reports whether s admits values of v's type.
func (s *rules) admits(v value.Value) bool {
	switch {
	case len(s.types) == 0:
		return true
	case v.IsNull():
		return s.nullable
	case slices.Contains(s.types, typeOf(v)):
		return true
	case v.Kind() == value.KindInt:
		return slices.Contains(s.types, "number")
	case v.Kind() == value.KindFloat:
		return slices.Contains(s.types, "integer") && v.Float() == math.Trunc(v.Float())
	}
	return false
}

// typeOf returns the name that JSON schemas have for the type of v.
func typeOf(v value.Value) string {
	switch v.Kind() {
	case value.KindBool:
		return "boolean"
	case value.KindInt:
		return "integer"
	case value.KindFloat:
		return "number"
	case value.KindList:
		return "array"
	}
	return v.Kind().String()
}

// counterpart returns the item of old, a list with schema s, that has the keys of item; absent when items are not told by
// keys, or when item lacks one.
func (s *rules) counterpart(item, old value.Value) value.Value {
	keys := keysOf(item, s.listKeys)
	if s.listType != "map" || s.items == nil || keys.Len() < len(s.listKeys) {
		return value.Value{}
	}
	for o := range old.Items() {
		if keysOf(o, s.listKeys).Equal(keys) {
			return o
		}
	}
	return value.Value{}
}

func keysOf(item value.Value, keys []string) value.Value {
	out := value.Object()
	for _, key := range keys {
		out = out.With(key, item.Get(key))
	}
	return out
}

// unchanged reports whether v equals old, whatever the order of items that keys tell apart. Members that s does not know
// are not comparable.
func (s *rules) unchanged(v, old value.Value) bool {
	if v.Kind() != old.Kind() || v.Len() != old.Len() {
		return v.Kind() != value.KindList && v.Kind() != value.KindObject && v.Equal(old)
	}
	switch v.Kind() {
	case value.KindObject:
		for name, member := range v.Members() {
			child, _ := s.child(name)
			if o := old.Get(name); child == nil || o.IsAbsent() || !child.unchanged(member, o) {
				return false
			}
		}
		return true
	case value.KindList:
		if s.listType != "map" || s.items == nil {
			return v.Equal(old)
		}
		for item := range v.Items() {
			if o := s.counterpart(item, old); o.IsAbsent() || !s.items.unchanged(item, o) {
				return false
			}
		}
		return true
	}
	return v.Equal(old)
}

// duplicates returns where a set or a list with keys holds an item again.
func duplicates(s *structural.Schema, v value.Value) []fieldError {
	var errs []fieldError
	for _, err := range s.Duplicates(v) {
		errs = append(errs, fieldError{string(err.Reason), err.Path, err.Message()})
	}
	return errs
}
