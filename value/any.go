package value

import (
	"fmt"
	"math"
)

// FromAny returns the document that v holds, in the forms that unstructured Kubernetes objects and encoding/json use: nil,
// bool, string, every integer type that an int64 holds, float32, float64, []any and map[string]any. A [Value] stands for
// itself. Any other type, an unsigned integer over the largest int64, an infinite float and NaN are errors that name the path.
//
// Strings share memory with v; maps and slices are copied, so v may be modified afterwards.
func FromAny(v any) (Value, error) {
	var c converter
	out, err := c.value(v)
	if err != nil {
		return Value{}, err
	}
	return out, nil
}

// ConversionError says where and why a Go value is no JSON document.
type ConversionError struct {
	Path   string // of the value, such as .spec.ports[2]; empty at the root
	Reason string
}

// Error returns the reason with its path.
func (e *ConversionError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

func (e *ConversionError) within(step string) *ConversionError {
	e.Path = step + e.Path
	return e
}

func inexpressible(format string, args ...any) *ConversionError {
	return &ConversionError{Reason: fmt.Sprintf(format, args...)}
}

type converter struct {
	arena arena
	depth int
}

func (c *converter) value(v any) (Value, *ConversionError) {
	switch v := v.(type) {
	case nil:
		return Null(), nil
	case string:
		return fromString(v), nil
	case map[string]any:
		return c.object(v)
	case []any:
		return c.list(v)
	case bool:
		return Bool(v), nil
	case int64:
		return Int(v), nil
	case float64:
		return fromFloat(v)
	case Value:
		if v.IsAbsent() {
			return Null(), nil
		}
		return v, nil
	}
	return fromOtherNumber(v)
}

// fromOtherNumber converts the number types that decoders do not make.
func fromOtherNumber(v any) (Value, *ConversionError) {
	switch v := v.(type) {
	case int:
		return Int(int64(v)), nil
	case int32:
		return Int(int64(v)), nil
	case int16:
		return Int(int64(v)), nil
	case int8:
		return Int(int64(v)), nil
	case uint8:
		return Int(int64(v)), nil
	case uint16:
		return Int(int64(v)), nil
	case uint32:
		return Int(int64(v)), nil
	case uint:
		return fromUint(uint64(v))
	case uint64:
		return fromUint(v)
	case float32:
		return fromFloat(float64(v))
	}
	return Value{}, inexpressible("a value of Go type %T is no JSON value", v)
}

func fromUint(u uint64) (Value, *ConversionError) {
	if u > math.MaxInt64 {
		return Value{}, inexpressible("%d is larger than an int64", u)
	}
	return Int(int64(u)), nil
}

func fromFloat(f float64) (Value, *ConversionError) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, inexpressible("JSON has no number %v", f)
	}
	return Float(f), nil
}

func (c *converter) enter() *ConversionError {
	if c.depth++; c.depth > MaxDepth {
		return inexpressible("nested deeper than %d", MaxDepth)
	}
	return nil
}

func (c *converter) object(m map[string]any) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	out := c.arena.takeMembers(len(m))
	i := 0
	for name, x := range m {
		v, err := c.value(x)
		if err != nil {
			return Value{}, err.within("." + name)
		}
		out[i] = Member{name, v}
		i++
	}
	c.depth--
	sortStable(out, func(a, b *Member) bool { return a.Name < b.Name })
	return fromMembers(out), nil
}

func (c *converter) list(l []any) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	out := c.arena.takeItems(len(l))
	for i, x := range l {
		v, err := c.value(x)
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out[i] = v
	}
	c.depth--
	return fromItems(out), nil
}

// ToAny returns v as encoding/json and unstructured Kubernetes objects hold it: nil, bool, int64, float64, string, []any
// and map[string]any. Maps and slices are new and belong to the caller. The absent Value gives nil.
func (v Value) ToAny() any {
	switch v.Kind() {
	case KindBool:
		return v.Bool()
	case KindInt:
		return v.Int()
	case KindFloat:
		return v.Float()
	case KindString:
		return v.str()
	case KindList:
		out := make([]any, v.len())
		for i, item := range v.items() {
			out[i] = item.ToAny()
		}
		return out
	case KindObject:
		out := make(map[string]any, v.len())
		for _, m := range v.members() {
			out[m.Name] = m.Value.ToAny()
		}
		return out
	}
	return nil
}
