package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// UnstructuredConverter is a type that returns its unstructured form. This is faster than printing and parsing JSON. Both
// methods must return the same document.
type UnstructuredConverter interface {
	json.Marshaler

	// ToUnstructured returns the unstructured form.
	ToUnstructured() interface{}
}

// UnstructuredConverterWithError is an [UnstructuredConverter] for types with values that have no unstructured form. If a type
// implements both, ToUnstructuredWithError is called.
type UnstructuredConverterWithError interface {
	json.Marshaler

	// ToUnstructuredWithError returns the unstructured form, or the reason why there is none.
	ToUnstructuredWithError() (any, error)
}

// receiver is the kind of receiver on which a method is defined.
type receiver uint8

const (
	noReceiver receiver = iota
	onValue
	onPointer // and not on the value
)

// receiverOf returns the receiver on which t has the methods of an interface.
func receiverOf(t, methods reflect.Type) receiver {
	switch {
	case t.Implements(methods):
		return onValue
	case reflect.PointerTo(t).Implements(methods):
		return onPointer
	}
	return noReceiver
}

// target returns v, or its address if the method is defined on pointers. It returns false if there is no method, or if v has no
// address.
func (r receiver) target(v reflect.Value) (any, bool) {
	switch {
	case r == onValue:
		return v.Interface(), true
	case r == onPointer && v.Kind() != reflect.Pointer && v.CanAddr():
		return v.Addr().Interface(), true
	}
	return nil, false
}

// TypeReflectCacheEntry has the data of a Go type that views of its values need. The zero entry is the entry of a type without
// fields and without conversion methods.
type TypeReflectCacheEntry struct {
	marshals     receiver // MarshalJSON
	converts     receiver // ToUnstructured
	convertsOrNo receiver // ToUnstructuredWithError
	unmarshals   bool     // a pointer to the type has UnmarshalJSON

	structFields        map[string]*FieldCacheEntry // of a struct, by their names in JSON
	orderedStructFields []*FieldCacheEntry          // the same, sorted by name
}

// FieldCacheEntry has the data of a field of a struct.
type FieldCacheEntry struct {
	// JsonName is the name that the field has in JSON.
	JsonName    string
	isOmitEmpty bool                     // it has the option omitempty
	omitzero    func(reflect.Value) bool // reports whether omitzero leaves out a value; nil without the option
	fieldPath   [][]int                  // the indexes of the embedded structs around the field, then its own index
	fieldType   reflect.Type

	// TypeEntry is the entry of the field's type.
	TypeEntry *TypeReflectCacheEntry
}

// CanOmit reports whether the field is left out when it has this value.
func (f *FieldCacheEntry) CanOmit(fieldVal reflect.Value) bool {
	if f.isOmitEmpty && (isNil(fieldVal) || isEmpty(fieldVal)) {
		return true
	}
	return f.omitzero != nil && f.omitzero(fieldVal)
}

// GetFrom returns the field in a struct. It returns the zero value of the field's type if an embedded struct around the field is
// nil.
func (f *FieldCacheEntry) GetFrom(structVal reflect.Value) reflect.Value {
	for _, index := range f.fieldPath {
		if isNil(structVal) {
			return reflect.Zero(f.fieldType)
		}
		structVal = dereference(structVal).FieldByIndex(index)
	}
	return structVal
}

// reflectEntries holds the entries of all types that were requested. Readers take no lock: the map is replaced, not changed.
var reflectEntries struct {
	current atomic.Pointer[map[reflect.Type]*TypeReflectCacheEntry]
	writing sync.Mutex
}

// TypeReflectEntryOf returns the entry of t. Each entry is made once.
func TypeReflectEntryOf(t reflect.Type) *TypeReflectCacheEntry {
	if known := reflectEntries.current.Load(); known != nil {
		if e, ok := (*known)[t]; ok {
			return e
		}
	}
	reflectEntries.writing.Lock()
	defer reflectEntries.writing.Unlock()
	next := map[reflect.Type]*TypeReflectCacheEntry{}
	if known := reflectEntries.current.Load(); known != nil {
		next = maps.Clone(*known)
	}
	e := addEntry(next, t)
	reflectEntries.current.Store(&next)
	return e
}

var (
	marshalerType    = reflect.TypeFor[json.Marshaler]()
	unmarshalerType  = reflect.TypeFor[json.Unmarshaler]()
	converterType    = reflect.TypeFor[UnstructuredConverter]()
	converterErrType = reflect.TypeFor[UnstructuredConverterWithError]()
)

// addEntry returns the entry of t in known. If there is none, it adds the entries of t and of the types of its fields. It adds
// the entry of t first, because types may refer to themselves.
func addEntry(known map[reflect.Type]*TypeReflectCacheEntry, t reflect.Type) *TypeReflectCacheEntry {
	if e, ok := known[t]; ok {
		return e
	}
	e := &TypeReflectCacheEntry{
		marshals:     receiverOf(t, marshalerType),
		converts:     receiverOf(t, converterType),
		convertsOrNo: receiverOf(t, converterErrType),
		unmarshals:   reflect.PointerTo(t).Implements(unmarshalerType),
	}
	known[t] = e
	if t.Kind() != reflect.Struct {
		return e
	}
	e.structFields = map[string]*FieldCacheEntry{}
	addFields(e.structFields, t, nil)
	e.orderedStructFields = make([]*FieldCacheEntry, 0, len(e.structFields))
	for _, f := range e.structFields {
		f.TypeEntry = addEntry(known, f.fieldType)
		e.orderedStructFields = append(e.orderedStructFields, f)
	}
	slices.SortFunc(e.orderedStructFields, func(a, b *FieldCacheEntry) int { return strings.Compare(a.JsonName, b.JsonName) })
	return e
}

// addFields adds to fields the fields of t, a struct at path. Fields of an embedded struct without its own name count as fields
// of t. Of several fields with the same name, the last one counts.
func addFields(fields map[string]*FieldCacheEntry, t reflect.Type, path [][]int) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, omit, inline, omitEmpty, omitZero := lookupJsonTags(field)
		if omit {
			continue
		}
		at := append(slices.Clip(path), field.Index)
		if !inline {
			fields[name] = &FieldCacheEntry{
				JsonName: name, isOmitEmpty: omitEmpty, omitzero: omitZero, fieldPath: at, fieldType: field.Type,
			}
			continue
		}
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if embedded.Kind() == reflect.Struct {
			addFields(fields, embedded, at)
		}
	}
}

// Fields returns the fields of a struct by their names in JSON, and nil for every other type. The caller must not modify the
// map.
func (e TypeReflectCacheEntry) Fields() map[string]*FieldCacheEntry { return e.structFields }

// OrderedFields returns the fields of a struct in the order of their names in JSON. The caller must not modify the slice.
func (e TypeReflectCacheEntry) OrderedFields() []*FieldCacheEntry { return e.orderedStructFields }

// CanConvertToUnstructured reports whether the type has a method that converts its values to documents.
func (e TypeReflectCacheEntry) CanConvertToUnstructured() bool {
	return e.marshals != noReceiver || e.converts != noReceiver || e.convertsOrNo != noReceiver
}

// ToUnstructured returns sv as a document, by the methods of its type. It returns nil for a nil pointer.
func (e TypeReflectCacheEntry) ToUnstructured(sv reflect.Value) (interface{}, error) {
	if sv.Kind() == reflect.Pointer && sv.IsNil() {
		return nil, nil
	}
	if x, ok := e.convertsOrNo.target(sv); ok {
		return x.(UnstructuredConverterWithError).ToUnstructuredWithError()
	}
	if x, ok := e.converts.target(sv); ok {
		return x.(UnstructuredConverter).ToUnstructured(), nil
	}
	x, ok := e.marshals.target(sv)
	if !ok {
		return nil, fmt.Errorf("provided type cannot be converted: %v", sv.Type())
	}
	text, err := x.(json.Marshaler).MarshalJSON()
	if err != nil {
		return nil, err
	}
	return fromText(text)
}

// fromText parses the document that a MarshalJSON method printed. Its errors name the expected kind of the document.
func fromText(text []byte) (interface{}, error) {
	if len(text) == 0 {
		return nil, fmt.Errorf("error decoding from json: empty value")
	}
	switch text[0] {
	case '"':
		var s string
		return decoded(text, &s, "string", func() any { return s })
	case '{':
		if m, ok := readMap(text); ok {
			return m, nil
		}
		m := map[string]interface{}{}
		return decoded(text, &m, "object", func() any { return m })
	case '[':
		l := []interface{}{}
		return decoded(text, &l, "array", func() any { return l })
	}
	switch string(text) {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	var i int64
	if unmarshal(text, &i) == nil {
		return i, nil
	}
	var f float64
	return decoded(text, &f, "number", func() any { return f })
}

// decoded parses text into target and returns the value of result. Its error names the kind of target, what.
func decoded(text []byte, target any, what string, result func() any) (any, error) {
	if err := unmarshal(text, target); err != nil {
		return nil, fmt.Errorf("error decoding %s from json: %v", what, err)
	}
	return result(), nil
}

// CanConvertFromUnstructured reports whether values of the type can be set from documents.
func (e TypeReflectCacheEntry) CanConvertFromUnstructured() bool { return e.unmarshals }

// FromUnstructured sets dv, which has an address, to the document sv.
func (e TypeReflectCacheEntry) FromUnstructured(sv, dv reflect.Value) error {
	p := printers.Get().(*printer)
	defer p.release() // UnmarshalJSON must copy the parts of the text that it keeps
	text, err := p.marshal(sv.Interface())
	if err != nil {
		return fmt.Errorf("error encoding %s to json: %v", dv.Type(), err)
	}
	if !e.unmarshals {
		return fmt.Errorf("unable to unmarshal %v into %v", sv.Type(), dv.Type())
	}
	return dv.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text)
}

// unmarshal parses one JSON value into v. Where v has no type for a number, the number becomes an int64 if it is written as one,
// and otherwise a float64.
func unmarshal(data []byte, v interface{}) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	end := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		rest := bytes.TrimLeft(data[end:], " \t\r\n")
		return fmt.Errorf("unexpected trailing data at offset %d", len(data)-len(rest))
	}
	var err error
	switch v := v.(type) {
	case *interface{}:
		*v, err = withNumbers(*v, 0)
	case *map[string]interface{}:
		_, err = withNumbers(*v, 0)
	case *[]interface{}:
		_, err = withNumbers(*v, 0)
	}
	return err
}

// maxDepth bounds the nesting of documents.
const maxDepth = 10000

// withNumbers returns v with numbers in place of their texts. It changes maps and slices in place.
func withNumbers(v interface{}, depth int) (_ interface{}, err error) {
	if depth > maxDepth+1 {
		return nil, fmt.Errorf("exceeded max depth of %d", maxDepth)
	}
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		return v.Float64()
	case map[string]interface{}:
		for name, x := range v {
			if v[name], err = withNumbers(x, depth+1); err != nil {
				return nil, err
			}
		}
	case []interface{}:
		for i, x := range v {
			if v[i], err = withNumbers(x, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
