package value

import "fmt"

// This file has views of unstructured values.

// NewValueInterface returns a view of v, which may consist of nil, booleans, strings, numbers, []interface{},
// map[string]interface{} and map[interface{}]interface{}. A part of another type has no kind.
func NewValueInterface(v interface{}) Value { return &valueUnstructured{v} }

type valueUnstructured struct{ Value interface{} }

// show makes v a view of x.
func (v *valueUnstructured) show(x interface{}) Value {
	v.Value = x
	return v
}

func (v valueUnstructured) IsMap() bool {
	switch v.Value.(type) {
	case map[string]interface{}, map[interface{}]interface{}:
		return true
	}
	return false
}

func (v valueUnstructured) AsMap() Map { return v.AsMapUsing(HeapAllocator) }

func (v valueUnstructured) AsMapUsing(Allocator) Map {
	switch m := v.Value.(type) {
	case nil:
		panic("invalid nil")
	case map[string]interface{}:
		return mapUnstructured[string](m)
	case map[interface{}]interface{}:
		return mapUnstructured[interface{}](m)
	}
	panic(fmt.Errorf("not a map: %#v", v))
}

func (v valueUnstructured) IsList() bool {
	_, ok := v.Value.([]interface{})
	return ok
}

func (v valueUnstructured) AsList() List { return v.AsListUsing(HeapAllocator) }

func (v valueUnstructured) AsListUsing(Allocator) List {
	return listUnstructured(v.Value.([]interface{}))
}

func (v valueUnstructured) IsBool() bool {
	_, ok := v.Value.(bool)
	return ok
}

func (v valueUnstructured) AsBool() bool { return v.Value.(bool) }

func (v valueUnstructured) IsString() bool {
	_, ok := v.Value.(string)
	return ok
}

func (v valueUnstructured) AsString() string { return v.Value.(string) }

func (v valueUnstructured) IsFloat() bool {
	switch v.Value.(type) {
	case float64, float32:
		return true
	}
	return false
}

func (v valueUnstructured) AsFloat() float64 {
	if f, ok := v.Value.(float32); ok {
		return float64(f)
	}
	return v.Value.(float64)
}

func (v valueUnstructured) IsInt() bool {
	_, ok := integer(v.Value)
	return ok
}

func (v valueUnstructured) AsInt() int64 {
	if i, ok := integer(v.Value); ok {
		return i
	}
	return v.Value.(int64) // panics, and names the actual type
}

// integer returns v as an integer, and whether it is one. A uint64 does not count, because an int64 may not hold it.
func integer(v interface{}) (int64, bool) {
	switch i := v.(type) {
	case int64:
		return i, true
	case int:
		return int64(i), true
	case int32:
		return int64(i), true
	case int16:
		return int64(i), true
	case int8:
		return int64(i), true
	case uint:
		return int64(i), true
	case uint32:
		return int64(i), true
	case uint16:
		return int64(i), true
	case uint8:
		return int64(i), true
	}
	return 0, false
}

func (v valueUnstructured) IsNull() bool { return v.Value == nil }

func (v valueUnstructured) Unstructured() interface{} { return v.Value }

// mapUnstructured is a view of a map. In a map[interface{}]interface{}, which YAML decoders make, only strings are names.
type mapUnstructured[K comparable] map[K]interface{}

// key returns the key of a member.
func (m mapUnstructured[K]) key(name string) K { return any(name).(K) }

func (m mapUnstructured[K]) Set(name string, v Value) { m[m.key(name)] = v.Unstructured() }

func (m mapUnstructured[K]) Get(name string) (Value, bool) { return m.GetUsing(HeapAllocator, name) }

func (m mapUnstructured[K]) GetUsing(a Allocator, name string) (Value, bool) {
	x, ok := m[m.key(name)]
	if !ok {
		return nil, false
	}
	return a.unstructuredValue().show(x), true
}

func (m mapUnstructured[K]) Has(name string) bool {
	_, ok := m[m.key(name)]
	return ok
}

func (m mapUnstructured[K]) Delete(name string) { delete(m, m.key(name)) }

func (m mapUnstructured[K]) Iterate(fn func(string, Value) bool) bool {
	return m.IterateUsing(HeapAllocator, fn)
}

func (m mapUnstructured[K]) IterateUsing(a Allocator, fn func(string, Value) bool) bool {
	if len(m) == 0 {
		return true
	}
	v := a.unstructuredValue()
	defer a.Free(v)
	for k, x := range m {
		if name, ok := any(k).(string); ok && !fn(name, v.show(x)) {
			return false
		}
	}
	return true
}

func (m mapUnstructured[K]) Length() int { return len(m) }

func (m mapUnstructured[K]) Empty() bool { return len(m) == 0 }

func (m mapUnstructured[K]) Equals(other Map) bool { return m.EqualsUsing(HeapAllocator, other) }

func (m mapUnstructured[K]) EqualsUsing(a Allocator, other Map) bool {
	if len(m) != other.Length() {
		return false
	}
	v := a.unstructuredValue()
	defer a.Free(v)
	return other.IterateUsing(a, func(name string, o Value) bool {
		x, ok := m[m.key(name)]
		return ok && EqualsUsing(a, v.show(x), o)
	})
}

func (m mapUnstructured[K]) Zip(other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return m.ZipUsing(HeapAllocator, other, order, fn)
}

func (m mapUnstructured[K]) ZipUsing(a Allocator, other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool {
	return zip(a, m, other, order, fn)
}

// listUnstructured is a view of a slice.
type listUnstructured []interface{}

func (l listUnstructured) Length() int { return len(l) }

func (l listUnstructured) At(i int) Value { return NewValueInterface(l[i]) }

func (l listUnstructured) AtUsing(a Allocator, i int) Value { return a.unstructuredValue().show(l[i]) }

func (l listUnstructured) Equals(other List) bool { return l.EqualsUsing(HeapAllocator, other) }

func (l listUnstructured) EqualsUsing(a Allocator, other List) bool {
	return ListEqualsUsing(a, l, other)
}

func (l listUnstructured) Range() ListRange { return l.RangeUsing(HeapAllocator) }

func (l listUnstructured) RangeUsing(a Allocator) ListRange {
	if len(l) == 0 {
		return EmptyRange
	}
	r := a.unstructuredRange()
	r.list, r.i = l, -1
	return r
}

type listUnstructuredRange struct {
	list []interface{}
	item *valueUnstructured
	i    int // index of the current item; -1 before the first
}

func (r *listUnstructuredRange) Next() bool {
	r.i++
	return r.i < len(r.list)
}

func (r *listUnstructuredRange) Item() (index int, value Value) {
	checkRange(r.i, len(r.list))
	return r.i, r.item.show(r.list[r.i])
}

// checkRange panics if there is no current item at i of n items.
func checkRange(i, n int) {
	if i < 0 {
		panic("Item() called before first calling Next()")
	}
	if i >= n {
		panic("Item() called on ListRange with no more items")
	}
}
