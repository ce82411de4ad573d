package value

import "reflect"

// Allocator allocates views and takes them back. Only this package implements it. An allocator of [NewFreelistAllocator] must
// not be used by two goroutines at once.
type Allocator interface {
	// Free takes back a Value, Map, List or ListRange that a function ending in Using returned. The caller must not use it
	// afterwards.
	Free(any)

	unstructuredValue() *valueUnstructured
	unstructuredRange() *listUnstructuredRange
	reflectValue() *valueReflect
	reflectMap() *mapReflect
	reflectStruct() *structReflect
	reflectList() *listReflect
	reflectRange() *listReflectRange
}

// HeapAllocator leaves everything to the garbage collector.
var HeapAllocator = &heapAllocator{}

type heapAllocator struct{}

func (*heapAllocator) Free(any)                                  {}
func (*heapAllocator) unstructuredValue() *valueUnstructured     { return &valueUnstructured{} }
func (*heapAllocator) unstructuredRange() *listUnstructuredRange { return newListUnstructuredRange() }
func (*heapAllocator) reflectValue() *valueReflect               { return &valueReflect{} }
func (*heapAllocator) reflectMap() *mapReflect                   { return &mapReflect{} }
func (*heapAllocator) reflectStruct() *structReflect             { return &structReflect{} }
func (*heapAllocator) reflectList() *listReflect                 { return &listReflect{} }
func (*heapAllocator) reflectRange() *listReflectRange           { return newListReflectRange() }

func newListUnstructuredRange() *listUnstructuredRange {
	return &listUnstructuredRange{item: &valueUnstructured{}}
}

func newListReflectRange() *listReflectRange { return &listReflectRange{item: &valueReflect{}} }

// NewFreelistAllocator returns an allocator that reuses the views that it took back.
func NewFreelistAllocator() Allocator { return &freelistAllocator{} }

// idle holds up to maxIdle views for reuse.
type idle[T any] []*T

const maxIdle = 1000

// take returns an idle view, or the result of fresh if there is none.
func (l *idle[T]) take(fresh func() *T) *T {
	n := len(*l)
	if n == 0 {
		return fresh()
	}
	v := (*l)[n-1]
	*l = (*l)[:n-1]
	return v
}

func (l *idle[T]) give(v *T) {
	if len(*l) < maxIdle {
		*l = append(*l, v)
	}
}

type freelistAllocator struct {
	unstructuredValues idle[valueUnstructured]
	unstructuredRanges idle[listUnstructuredRange]
	values             idle[valueReflect]
	maps               idle[mapReflect]
	structs            idle[structReflect]
	lists              idle[listReflect]
	ranges             idle[listReflectRange]
}

// fresh returns a new zero T.
func fresh[T any]() *T { return new(T) }

func (f *freelistAllocator) unstructuredValue() *valueUnstructured {
	return f.unstructuredValues.take(fresh[valueUnstructured])
}

func (f *freelistAllocator) unstructuredRange() *listUnstructuredRange {
	return f.unstructuredRanges.take(newListUnstructuredRange)
}

func (f *freelistAllocator) reflectValue() *valueReflect { return f.values.take(fresh[valueReflect]) }
func (f *freelistAllocator) reflectMap() *mapReflect     { return f.maps.take(fresh[mapReflect]) }
func (f *freelistAllocator) reflectStruct() *structReflect {
	return f.structs.take(fresh[structReflect])
}
func (f *freelistAllocator) reflectList() *listReflect { return f.lists.take(fresh[listReflect]) }
func (f *freelistAllocator) reflectRange() *listReflectRange {
	return f.ranges.take(newListReflectRange)
}

// Free keeps v for another call. v loses its references to the value that it shows.
func (f *freelistAllocator) Free(v any) {
	switch v := v.(type) {
	case *valueUnstructured:
		*v = valueUnstructured{}
		f.unstructuredValues.give(v)
	case *listUnstructuredRange:
		*v.item = valueUnstructured{}
		v.list = nil
		f.unstructuredRanges.give(v)
	case *valueReflect:
		*v = valueReflect{}
		f.values.give(v)
	case *mapReflect:
		*v = mapReflect{}
		f.maps.give(v)
	case *structReflect:
		*v = structReflect{}
		f.structs.give(v)
	case *listReflect:
		*v = listReflect{}
		f.lists.give(v)
	case *listReflectRange:
		*v.item = valueReflect{}
		v.list, v.entry = reflect.Value{}, nil
		f.ranges.give(v)
	}
}
