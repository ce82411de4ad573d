package value

import (
	"encoding/base64"
	"fmt"
	"reflect"
)

// This file has views of Go structs. The members of a map have no address, so a struct in a map cannot be changed in place: a
// new struct replaces it.

// NewValueReflect returns a view of the value that value, a pointer, points to, or a view of null for nil. A type with a
// method that converts it to a document is shown as the result of the method: see [UnstructuredConverter] and
// [encoding/json.Marshaler].
func NewValueReflect(value interface{}) (Value, error) {
	if value == nil {
		return NewValueInterface(nil), nil
	}
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("value provided to NewValueReflect must be a pointer")
	}
	return wrapValueReflect(v, nil, nil)
}

// wrapValueReflect returns a view of value. If value is a member of a map, parentMap is the map, and parentMapKey is the key.
func wrapValueReflect(value reflect.Value, parentMap, parentMapKey *reflect.Value) (Value, error) {
	v := &valueReflect{}
	if err := v.show(value, nil, parentMap, parentMapKey); err != nil {
		return nil, err
	}
	return v, nil
}

// reflectKind is the kind of a Go value as part of a document.
type reflectKind uint8

const (
	kindNull reflectKind = iota
	kindMap
	kindStruct
	kindList
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindBool
)

type valueReflect struct {
	ParentMap    *reflect.Value // the map that has the value as a member, or nil
	ParentMapKey *reflect.Value
	Value        reflect.Value
	kind         reflectKind
}

var nilPointer = reflect.Zero(reflect.TypeFor[*struct{}]())

// show makes r a view of v. entry is the entry of v's type, or nil to look it up.
func (r *valueReflect) show(v reflect.Value, entry *TypeReflectCacheEntry, parentMap, parentMapKey *reflect.Value) error {
	if entry == nil {
		entry = TypeReflectEntryOf(v.Type())
	}
	if entry.CanConvertToUnstructured() {
		u, err := entry.ToUnstructured(v)
		if err != nil {
			return err
		}
		if v = nilPointer; u != nil {
			v = reflect.ValueOf(u)
		}
	}
	v = dereference(v)
	*r = valueReflect{parentMap, parentMapKey, v, kindOf(v)}
	return nil
}

// mustShow calls show and returns r. It panics on an error.
func (r *valueReflect) mustShow(v reflect.Value, entry *TypeReflectCacheEntry, parentMap, parentMapKey *reflect.Value) Value {
	if err := r.show(v, entry, parentMap, parentMapKey); err != nil {
		panic(err)
	}
	return r
}

// dereference returns the value that a pointer or interface holds, or v itself for nil and for other kinds.
func dereference(v reflect.Value) reflect.Value {
	if k := v.Kind(); (k == reflect.Interface || k == reflect.Pointer) && !v.IsNil() {
		return v.Elem()
	}
	return v
}

// isNil reports whether v is nil.
func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Chan, reflect.Func, reflect.Map, reflect.Pointer, reflect.UnsafePointer, reflect.Interface, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// kindOf returns the kind of v, which is nil or not a pointer. It panics if v cannot be a part of a document.
func kindOf(v reflect.Value) reflectKind {
	if isNil(v) {
		return kindNull
	}
	switch v.Kind() {
	case reflect.Map:
		return kindMap
	case reflect.Struct:
		return kindStruct
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return kindBytes
		}
		return kindList
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return kindInt
	case reflect.Uint, reflect.Uint32, reflect.Uint16, reflect.Uint8: // an int64 may not hold a uint64
		return kindUint
	case reflect.Float64, reflect.Float32:
		return kindFloat
	case reflect.String:
		return kindString
	case reflect.Bool:
		return kindBool
	}
	panic(fmt.Sprintf("unsupported type: %v", v.Type()))
}

func (r valueReflect) IsMap() bool    { return r.kind == kindMap || r.kind == kindStruct }
func (r valueReflect) IsList() bool   { return r.kind == kindList }
func (r valueReflect) IsBool() bool   { return r.kind == kindBool }
func (r valueReflect) IsInt() bool    { return r.kind == kindInt || r.kind == kindUint }
func (r valueReflect) IsFloat() bool  { return r.kind == kindFloat }
func (r valueReflect) IsString() bool { return r.kind == kindString || r.kind == kindBytes }
func (r valueReflect) IsNull() bool   { return r.kind == kindNull }

func (r valueReflect) AsMap() Map { return r.AsMapUsing(HeapAllocator) }

func (r valueReflect) AsMapUsing(a Allocator) Map {
	switch r.kind {
	case kindMap:
		m := a.reflectMap()
		m.valueReflect = r
		return m
	case kindStruct:
		m := a.reflectStruct()
		m.valueReflect = r
		return m
	}
	panic("value is not a map or struct")
}

func (r valueReflect) AsList() List { return r.AsListUsing(HeapAllocator) }

func (r valueReflect) AsListUsing(a Allocator) List {
	if r.kind != kindList {
		panic("value is not a list")
	}
	l := a.reflectList()
	l.Value = r.Value
	return l
}

func (r valueReflect) AsBool() bool {
	if r.kind != kindBool {
		panic("value is not a bool")
	}
	return r.Value.Bool()
}

func (r valueReflect) AsInt() int64 {
	switch r.kind {
	case kindInt:
		return r.Value.Int()
	case kindUint:
		return int64(r.Value.Uint())
	}
	panic("value is not an int")
}

func (r valueReflect) AsFloat() float64 {
	if r.kind != kindFloat {
		panic("value is not a float")
	}
	return r.Value.Float()
}

func (r valueReflect) AsString() string {
	switch r.kind {
	case kindString:
		return r.Value.String()
	case kindBytes:
		return base64.StdEncoding.EncodeToString(r.Value.Bytes())
	}
	panic("value is not a string")
}

func (r valueReflect) Unstructured() interface{} {
	switch r.kind {
	case kindMap:
		return members(mapReflect{r}, r.Value.Len())
	case kindStruct:
		return members(structReflect{r}, r.Value.NumField())
	case kindList:
		return listReflect{r.Value}.Unstructured()
	case kindInt, kindUint:
		return r.AsInt()
	case kindFloat:
		return r.AsFloat()
	case kindString, kindBytes:
		return r.AsString()
	case kindBool:
		return r.AsBool()
	}
	return nil
}

// members returns the members of m in unstructured form. n is about their number.
func members(m Map, n int) map[string]interface{} {
	out := make(map[string]interface{}, n)
	m.Iterate(func(name string, v Value) bool {
		out[name] = v.Unstructured()
		return true
	})
	return out
}

// structReflect is a view of a struct.
type structReflect struct{ valueReflect }

// each calls fn with the fields that are not left out, in the order of their names, until fn returns false.
func (r structReflect) each(fn func(f *FieldCacheEntry, v reflect.Value) bool) bool {
	for _, f := range TypeReflectEntryOf(r.Value.Type()).orderedStructFields {
		if v := f.GetFrom(r.Value); !f.CanOmit(v) && !fn(f, v) {
			return false
		}
	}
	return true
}

func (r structReflect) Length() int {
	n := 0
	r.each(func(*FieldCacheEntry, reflect.Value) bool {
		n++
		return true
	})
	return n
}

func (r structReflect) Empty() bool {
	return r.each(func(*FieldCacheEntry, reflect.Value) bool { return false })
}

// field returns the field of this name, and whether it is there and not left out.
func (r structReflect) field(name string) (reflect.Value, bool) {
	f, ok := TypeReflectEntryOf(r.Value.Type()).structFields[name]
	if !ok {
		return reflect.Value{}, false
	}
	v := f.GetFrom(r.Value)
	return v, !f.CanOmit(v)
}

func (r structReflect) Get(name string) (Value, bool) { return r.GetUsing(HeapAllocator, name) }

func (r structReflect) GetUsing(a Allocator, name string) (Value, bool) {
	v, ok := r.field(name)
	if !ok {
		return nil, false
	}
	return a.reflectValue().mustShow(v, nil, nil, nil), true
}

func (r structReflect) Has(name string) bool {
	_, ok := r.field(name)
	return ok
}

func (r structReflect) Set(name string, v Value) {
	f, ok := TypeReflectEntryOf(r.Value.Type()).structFields[name]
	if !ok {
		panic(fmt.Sprintf("key %s may not be set on struct %T: field does not exist", name, r.Value.Interface()))
	}
	r.change(f, reflect.ValueOf(v.Unstructured()))
}

func (r structReflect) Delete(name string) {
	f, ok := TypeReflectEntryOf(r.Value.Type()).structFields[name]
	if !ok {
		panic(fmt.Sprintf("key %s may not be deleted on struct %T: field does not exist", name, r.Value.Interface()))
	}
	old := f.GetFrom(r.Value)
	if old.Kind() != reflect.Pointer && !f.isOmitEmpty {
		panic(fmt.Sprintf("key %s may not be deleted on struct: %T: value is neither a pointer nor an omitempty field", name, r.Value.Interface()))
	}
	r.change(f, reflect.Zero(old.Type()))
}

// change sets a field to v. It replaces a struct in a map by a new struct with only that field set.
func (r structReflect) change(f *FieldCacheEntry, v reflect.Value) {
	if old := f.GetFrom(r.Value); old.CanSet() {
		old.Set(v)
		return
	}
	if r.ParentMap == nil {
		panic(fmt.Sprintf("key %s may not be modified on struct: %T: struct is not settable", f.JsonName, r.Value.Interface()))
	}
	if r.ParentMapKey == nil {
		panic("ParentMapKey must not be nil if ParentMap is not nil")
	}
	replacement := reflect.New(r.Value.Type()).Elem()
	f.GetFrom(replacement).Set(v)
	r.ParentMap.SetMapIndex(*r.ParentMapKey, replacement)
}

func (r structReflect) Iterate(fn func(string, Value) bool) bool {
	return r.IterateUsing(HeapAllocator, fn)
}

func (r structReflect) IterateUsing(a Allocator, fn func(string, Value) bool) bool {
	view := a.reflectValue()
	defer a.Free(view)
	return r.each(func(f *FieldCacheEntry, v reflect.Value) bool {
		return fn(f.JsonName, view.mustShow(v, f.TypeEntry, nil, nil))
	})
}

func (r structReflect) Equals(other Map) bool { return r.EqualsUsing(HeapAllocator, other) }

func (r structReflect) EqualsUsing(a Allocator, other Map) bool { return MapEqualsUsing(a, &r, other) }

func (r structReflect) Zip(other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return r.ZipUsing(HeapAllocator, other, order, fn)
}

// ZipUsing goes through two structs of the same type field by field. The fields are in the order of names, so order does not
// matter.
func (r structReflect) ZipUsing(a Allocator, other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	o, ok := other.(*structReflect)
	if !ok || o.Value.Type() != r.Value.Type() {
		return zip(a, &r, other, order, fn)
	}
	left, right := a.reflectValue(), a.reflectValue()
	defer a.Free(left)
	defer a.Free(right)
	for _, f := range TypeReflectEntryOf(r.Value.Type()).orderedStructFields {
		var lhs, rhs Value
		if v := f.GetFrom(r.Value); !f.CanOmit(v) {
			lhs = left.mustShow(v, f.TypeEntry, nil, nil)
		}
		if v := f.GetFrom(o.Value); !f.CanOmit(v) {
			rhs = right.mustShow(v, f.TypeEntry, nil, nil)
		}
		if (lhs != nil || rhs != nil) && !fn(f.JsonName, lhs, rhs) {
			return false
		}
	}
	return true
}

// mapReflect is a view of a map whose keys are strings of any type.
type mapReflect struct{ valueReflect }

func (r mapReflect) Length() int { return r.Value.Len() }

func (r mapReflect) Empty() bool { return r.Value.Len() == 0 }

// key returns the key of the member called name.
func (r mapReflect) key(name string) reflect.Value {
	return reflect.ValueOf(name).Convert(r.Value.Type().Key())
}

func (r mapReflect) Get(name string) (Value, bool) { return r.GetUsing(HeapAllocator, name) }

func (r mapReflect) GetUsing(a Allocator, name string) (Value, bool) {
	key := r.key(name)
	v := r.Value.MapIndex(key)
	if !v.IsValid() {
		return nil, false
	}
	return a.reflectValue().mustShow(v, nil, &r.Value, &key), true
}

func (r mapReflect) Has(name string) bool { return r.Value.MapIndex(r.key(name)).IsValid() }

func (r mapReflect) Set(name string, v Value) {
	r.Value.SetMapIndex(r.key(name), reflect.ValueOf(v.Unstructured()))
}

func (r mapReflect) Delete(name string) { r.Value.SetMapIndex(r.key(name), reflect.Value{}) }

func (r mapReflect) Iterate(fn func(string, Value) bool) bool {
	return r.IterateUsing(HeapAllocator, fn)
}

func (r mapReflect) IterateUsing(a Allocator, fn func(string, Value) bool) bool {
	if r.Value.Len() == 0 {
		return true
	}
	view := a.reflectValue()
	defer a.Free(view)
	entry := TypeReflectEntryOf(r.Value.Type().Elem())
	for members := r.Value.MapRange(); members.Next(); {
		key := members.Key()
		if !fn(key.String(), view.mustShow(members.Value(), entry, &r.Value, &key)) {
			return false
		}
	}
	return true
}

func (r mapReflect) Equals(other Map) bool { return r.EqualsUsing(HeapAllocator, other) }

func (r mapReflect) EqualsUsing(a Allocator, other Map) bool {
	if r.Value.Len() != other.Length() {
		return false
	}
	view := a.reflectValue()
	defer a.Free(view)
	entry := TypeReflectEntryOf(r.Value.Type().Elem())
	return other.IterateUsing(a, func(name string, o Value) bool {
		v := r.Value.MapIndex(r.key(name))
		return v.IsValid() && EqualsUsing(a, view.mustShow(v, entry, nil, nil), o)
	})
}

func (r mapReflect) Zip(other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return r.ZipUsing(HeapAllocator, other, order, fn)
}

func (r mapReflect) ZipUsing(a Allocator, other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return zip(a, &r, other, order, fn)
}

// listReflect is a view of a slice.
type listReflect struct{ Value reflect.Value }

func (r listReflect) Length() int { return r.Value.Len() }

func (r listReflect) At(i int) Value { return r.AtUsing(HeapAllocator, i) }

func (r listReflect) AtUsing(a Allocator, i int) Value {
	return a.reflectValue().mustShow(r.Value.Index(i), nil, nil, nil)
}

// Unstructured returns the list in unstructured form.
func (r listReflect) Unstructured() interface{} {
	out := make([]interface{}, r.Value.Len())
	for i := range out {
		out[i] = r.At(i).Unstructured()
	}
	return out
}

func (r listReflect) Equals(other List) bool { return r.EqualsUsing(HeapAllocator, other) }

func (r listReflect) EqualsUsing(a Allocator, other List) bool {
	if o, ok := other.(*listReflect); ok {
		return reflect.DeepEqual(r.Value.Interface(), o.Value.Interface())
	}
	return ListEqualsUsing(a, &r, other)
}

func (r listReflect) Range() ListRange { return r.RangeUsing(HeapAllocator) }

func (r listReflect) RangeUsing(a Allocator) ListRange {
	if r.Value.Len() == 0 {
		return EmptyRange
	}
	out := a.reflectRange()
	out.list, out.i, out.entry = r.Value, -1, TypeReflectEntryOf(r.Value.Type().Elem())
	return out
}

type listReflectRange struct {
	list  reflect.Value
	item  *valueReflect
	i     int // index of the current item; -1 before the first
	entry *TypeReflectCacheEntry
}

func (r *listReflectRange) Next() bool {
	r.i++
	return r.i < r.list.Len()
}

func (r *listReflectRange) Item() (index int, value Value) {
	checkRange(r.i, r.list.Len())
	return r.i, r.item.mustShow(r.list.Index(r.i), r.entry, nil, nil)
}
