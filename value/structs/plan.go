package structs

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/deed-project/deed/value"
)

// plan describes how values of one Go type become JSON and how JSON fills them. [From] and [Into]
// follow the same plan. It is built once per type and never changes afterwards. Plans of recursive
// types are recursive.
//
// The plan makes it correct to read a value of the type from [memory]: the shape, the size and the
// offsets of the fields are those of the type.
type plan struct {
	typ   reflect.Type
	shape shape
	size  uintptr // of a value, in bytes

	elem   *plan   // of the target of a pointer, or of the elements of a slice, an array or a map
	fields []field // of a struct, in name order
	alike  bool    // two keys of a map may print as the same name

	// Methods that replace the shape. A method that only *T has can be called if the T has an
	// address.
	prints     method // prints a T
	addrPrints method // prints a T through its address
	reads      method // fills a T through its address
	printouts  printouts
}

// shape is the kind of a Go type for the conversion.
type shape uint8

const (
	shapeNone shape = iota // channels, functions, complex numbers, maps without text keys, pointers to themselves
	shapeBool
	shapeInt
	shapeUint
	shapeFloat
	shapeString
	shapeNumber // encoding/json.Number
	shapeBytes  // a []byte, which is text in base64
	shapeSlice
	shapeArray
	shapeMap
	shapeStrings // a map of strings by strings; no method fills a key, and no method fills or prints an element
	shapeStruct
	shapePointer
	shapeInterface
	shapeValue // a Value itself
)

// field is one member of a struct type.
type field struct {
	name     string
	plan     *plan
	offset   uintptr // of the field in the struct, or in the target of the last hop
	hops     []hop   // the embedded pointers on the way to the field
	empty    emptyTest
	word     uint8 // for emptyWord: offset of the word in the field, in bytes
	omitZero zeroTest
	text     bool // the field is a string without methods that print it, and not quoted
	quoted   bool // the tag's option "string": a scalar is printed as text inside a string
}

// hop is an embedded pointer on the way to a field.
type hop struct {
	offset uintptr
	typ    reflect.Type // of the target
	sealed bool         // the pointer is not exported, so other packages may not set it
}

// emptyTest is the test for an empty field with the tag option "omitempty".
type emptyTest uint8

const (
	neverEmpty emptyTest = iota // no such option, or a type that is never empty
	emptyWord                   // a nil pointer or interface, an empty string or slice: one word is zero
	empty8                      // a bool or an integer of 8 bits that are all zero
	empty16
	empty32
	empty64
	emptyFloat32 // the number 0, or -0
	emptyFloat64
	emptyMap    // a map without members
	alwaysEmpty // an array without elements
)

// zeroTest is the test for a zero field with the tag option "omitzero".
type zeroTest uint8

const (
	neverZero      zeroTest = iota // no such option
	zeroInMemory                   // the field is the Go zero value
	zeroByMethod                   // the method IsZero returns true
	zeroByAddrOnly                 // the method IsZero of the address returns true
)

var (
	numberType = reflect.TypeFor[json.Number]()
	valueType  = reflect.TypeFor[value.Value]()

	plans sync.Map // from reflect.Type to *plan
)

// planOf returns the plan for t. Two goroutines may build the same plan at the same time; both
// plans are valid.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	under := planner{}
	p := under.plan(t)
	for t, finished := range under {
		plans.Store(t, finished)
	}
	return p
}

// planner holds unfinished plans, so that a recursive type finds its own plan. They are published
// when all are finished.
type planner map[reflect.Type]*plan

func (under planner) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := under[t]; ok {
		return p
	}
	p := &plan{typ: t, size: t.Size()}
	under[t] = p
	if t == valueType {
		p.shape = shapeValue
		return p
	}
	p.prints, p.addrPrints, p.reads = printerOf(t), printerOf(reflect.PointerTo(t)), readerOf(t)
	if p.prints == p.addrPrints && p.prints != noMethod {
		p.printouts = printoutsOf(t)
	}
	p.shape = shapeOf(t)
	switch p.shape {
	case shapeSlice, shapeArray, shapeMap, shapeStrings, shapePointer:
		p.elem = under.plan(t.Elem())
		p.alike = p.shape == shapeMap && t.Key().Kind() != reflect.String && t.Key().Implements(textMarshalerType)
	case shapeStruct:
		for _, c := range fieldsOf(t) {
			c.plan = under.plan(c.locate(t))
			c.text = c.plan.shape == shapeString && c.plan.prints|c.plan.addrPrints == noMethod && !c.quoted
			p.fields = append(p.fields, c.field)
		}
		p.fields = slices.Clip(p.fields)
	}
	return p
}

func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Bool:
		return shapeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return shapeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return shapeUint
	case reflect.Float32, reflect.Float64:
		return shapeFloat
	case reflect.String:
		if t == numberType {
			return shapeNumber
		}
		return shapeString
	case reflect.Slice:
		if elem := t.Elem(); elem.Kind() == reflect.Uint8 && printerOf(reflect.PointerTo(elem)) == noMethod {
			return shapeBytes
		}
		return shapeSlice
	case reflect.Array:
		return shapeArray
	case reflect.Struct:
		return shapeStruct
	case reflect.Interface:
		return shapeInterface
	case reflect.Map:
		return shapeOfMap(t.Key(), t.Elem())
	case reflect.Pointer:
		if !pointsToItself(t) {
			return shapePointer
		}
	}
	return shapeNone
}

func shapeOfMap(key, elem reflect.Type) shape {
	switch {
	case !isText(key):
		return shapeNone
	case key.Kind() == reflect.String && isPlainString(elem) &&
		readerOf(key) == noMethod && readerOf(elem) == noMethod:
		return shapeStrings
	}
	return shapeMap
}

func isPlainString(t reflect.Type) bool {
	return t.Kind() == reflect.String && t != numberType && printerOf(t) == noMethod
}

// pointsToItself detects types such as type P *P. JSON has no form for such a type, and a walk of
// it would not end.
func pointsToItself(t reflect.Type) bool {
	seen := map[reflect.Type]bool{}
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		if seen[t] {
			return true
		}
		seen[t] = true
	}
	return false
}
