package structs

import (
	"math"
	"sync"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// From returns the document that v is in the eyes of encoding/json, without printing it: the result
// is Equal to that of [value.Parse] on what [json.Marshal] prints. In detail:
//
//  1. Structs are objects. Names, "-", omitempty, omitzero (with IsZero methods), string, and
//     embedded structs count as in encoding/json. A nil slice, map, pointer or interface that is
//     not omitted is null, and a []byte is text in base64.
//  2. A type with MarshalJSON or MarshalText is what those return. A type with MarshalJSON and
//     ToUnstructured or ToUnstructuredWithError, as Kubernetes types have them, is what the latter
//     returns.
//  3. Map keys are strings, integers or have MarshalText.
//  4. A [value.Value] stands for itself wherever it is found; the absent one is null.
//  5. Strings are taken as they are, bytes that are not UTF-8 too, and share memory with v.
//
// Errors, always a [*value.ConversionError], are what JSON cannot express: channels, functions,
// complex numbers, infinite floats, NaN and cycles; nesting deeper than [value.MaxDepth]; two map
// keys with the same text; what a method returns as an error; and unsigned integers over the
// largest int64, which encoding/json would print.
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

// Decode is [From] for the next document of d: as with [value.Decoder.FromAny], it shares with the
// one before what is the same. [value.Decoder.Except] does not count. A nil d remembers nothing.
//
// Methods that print a small value without references, such as a quantity or a time, are not always
// called: what they printed for equal values is remembered, if it was found in an earlier document
// too, in tables of fixed size, one for each type. They must depend on the value alone.
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
	depth     int            // how many open containers there are
	pointers  int            // how many pointers led from the root to here: a cycle need not have containers
	printouts bool           // use what methods printed before
	open      []value.Member // members of the open structs and maps, innermost last
	values    int            // how many values interfaces held
	box       mapBox         // of the last map that was read by reflection; kept for the next document
	shared    int            // how many containers of an earlier document are in what was converted so far
}

var converters = sync.Pool{New: func() any { return new(converter) }}

// maxKept bounds the stack that waits in a pool for another document.
const maxKept = 1 << 12

// release makes c ready for another document and gives it back, without what belongs to the result.
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

// value converts what an interface holds after former, what the earlier document has in its place.
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

// present returns v, or null if that is absent.
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
