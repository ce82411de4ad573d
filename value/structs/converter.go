package structs

import (
	"math"
	"sync"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// From returns the document that encoding/json would print for v, without printing it. The result
// is Equal to the result of [value.Parse] for the output of [json.Marshal]. In detail:
//
//  1. A struct is an object. Names, "-", omitempty, omitzero (with IsZero methods), string, and
//     embedded structs have their meaning in encoding/json. A nil slice, map, pointer or interface
//     that is not omitted is null. A []byte is text in base64.
//  2. A type with MarshalJSON or MarshalText gives the result of that method. A type that also has
//     ToUnstructured or ToUnstructuredWithError beside MarshalJSON, as Kubernetes types do, gives
//     the result of ToUnstructured or ToUnstructuredWithError.
//  3. Map keys are strings, integers or have MarshalText.
//  4. A [value.Value] stands for itself everywhere. The absent Value is null.
//  5. Strings keep their bytes, including bytes that are not UTF-8, and share memory with v.
//
// The error is always a [*value.ConversionError]. Errors are channels, functions, complex numbers,
// infinite floats, NaN, cycles, nesting deeper than [value.MaxDepth], two map keys with the same
// text, and errors of methods. An unsigned integer over the largest int64 is an error too, although
// encoding/json would print it.
//
// Cost: linear in the size of v, with a factor log n for the keys of maps.
func From(v any) (value.Value, error) {
	c := converters.Get().(*converter)
	defer c.release()
	out, err := c.value(v, value.Value{})
	if err != nil {
		return value.Value{}, err.located()
	}
	return out, nil
}

// Decode is [From] for the next document of d. As [value.Decoder.FromAny] does, it shares equal
// parts with the document before. Decode ignores the options of d, such as [value.Decoder.Except].
// A nil d shares nothing.
//
// Decode caches what the methods of small types without references print, such as quantities and
// times. It does not always call such a method, so the method must depend on the value alone. The
// cache has a table of fixed size for each type. It holds only results of an earlier document.
func Decode(d *value.Decoder, v any) (value.Value, error) {
	if d == nil {
		return From(v)
	}
	c := converters.Get().(*converter)
	defer c.release()
	c.printouts = true
	out, err := c.value(v, d.Last)
	if err != nil {
		return value.Value{}, err.located()
	}
	d.Last = out
	return out, nil
}

// converter makes one document from Go values.
type converter struct {
	members   slab.Slab[value.Member]
	items     slab.Slab[value.Value]
	depth     int            // number of open containers
	pointers  int            // number of pointers from the root to here: a cycle may lack containers
	printouts bool           // use the printouts of types
	open      []value.Member // members of the open structs and maps, innermost last
	values    int            // number of values that interfaces held
	box       mapBox         // of the last map that was read by reflection; kept for the next document
	shared    int            // number of containers that were taken from an earlier document so far
}

var converters = sync.Pool{New: func() any { return new(converter) }}

// maxKept limits the stack that stays in a pool, in members.
const maxKept = 1 << 12

// release returns c to the pool, ready for another document. It drops all references to the result.
func (c *converter) release() {
	work.Add(work.Counts{Values: c.values})
	clear(c.open)
	*c = converter{open: slab.Kept(c.open, maxKept), box: c.box}
	converters.Put(c)
}

func (c *converter) enter() *fault {
	if c.depth++; c.depth > value.MaxDepth {
		return inexpressible("nested deeper than %d", value.MaxDepth)
	}
	return nil
}

// value converts v, the content of an interface. former is the value in the same place of the
// earlier document.
func (c *converter) value(v any, former value.Value) (value.Value, *fault) {
	c.values++
	switch v := v.(type) {
	case nil:
		return value.Null(), nil
	case string:
		return value.String(v), nil
	case bool:
		return value.Bool(v), nil
	case int64:
		return value.Int(v), nil
	case float64:
		return fromFloat(v)
	case map[string]any:
		return c.anyMap(v, former)
	case []any:
		return c.anyList(v, former)
	case value.Value:
		return present(v), nil
	}
	return c.boxed(v, former)
}

// present returns v, or null if v is absent.
func present(v value.Value) value.Value {
	if v.IsAbsent() {
		return value.Null()
	}
	return v
}

func fromUint(u uint64) (value.Value, *fault) {
	if u > math.MaxInt64 {
		return value.Value{}, inexpressible("%d is larger than an int64", u)
	}
	return value.Int(int64(u)), nil
}

func fromFloat(f float64) (value.Value, *fault) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Value{}, inexpressible("JSON has no number %v", f)
	}
	return value.Float(f), nil
}
