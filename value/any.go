package value

import (
	"fmt"
	"math"
	"sync"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
)

// Conversion from and to maps. A Go map has no order, so sorting the names is most of the cost. If
// the converter can guess the names, it looks them up in order instead. A guess comes from an
// earlier document (draft.go), from the previous item of a list, or from earlier objects under the
// same name (shape.go). In a list of 1,000 containers with the same names, the converter sorts at
// most the names of the first:
//
//	[{name, image}, {name, image}, …]    the second item is asked for name, then for image

// FromAny returns the document that v holds, in the forms of unstructured Kubernetes objects and
// encoding/json: nil, bool, string, every integer type but uint64, float32, float64, []any and
// map[string]any. It also takes []string and map[string]string, the forms of finalizers and labels.
// A [Value] stands for itself; the absent Value becomes null. A nil slice or map is empty. A
// float32 is the number that encoding/json prints for it. The error is always a [*ConversionError].
// Errors are any other type, an unsigned integer over the largest int64, an infinite float, NaN,
// and nesting deeper than [MaxDepth].
//
// Strings share memory with v, except names that the converter has in memory already. Maps and
// slices are copied, so v may be modified afterwards.
func FromAny(v any) (Value, error) { return new(Decoder).FromAny(v) }

// converter makes one document from Go values.
type converter struct {
	arena  arena
	depth  int      // number of open containers
	open   []Member // members of the open objects, innermost last
	values int      // number of converted values
	except []string // path of the omitted member, from the next map on; nil: nothing is omitted
	named  []Member // members of a sibling object; the next map probably has the same names
	under  string   // name of the member that holds the next value; "" for a document
	shapes *shapes  // names of objects that were converted before
	shared int      // number of containers that were taken from an earlier document so far

	other func(any) (Value, error) // see Decoder.Other
}

var converters = sync.Pool{New: func() any { return &converter{shapes: new(shapes)} }}

// release returns c to the pool, ready for another document. It drops all references to the result.
func (c *converter) release() {
	work.Add(work.Counts{Values: c.values})
	clear(c.open)
	*c = converter{open: slab.Kept(c.open, maxKept), shapes: c.shapes}
	converters.Put(c)
}

// value converts v. former is the value in the same place of the earlier document: see
// [Decoder.FromAny].
func (c *converter) value(v any, former Value) (Value, *ConversionError) {
	c.values++
	switch v := v.(type) {
	case nil:
		return Null(), nil
	case string:
		return fromString(v), nil
	case map[string]any:
		if former.Kind() == KindObject && len(v) > 0 && former.len() <= lookupFactor*len(v) {
			return c.objectAfter(v, former)
		}
		return c.object(v)
	case []any:
		return c.list(v, former)
	case bool:
		return Bool(v), nil
	case int64:
		return Int(v), nil
	case float64:
		return fromFloat(v)
	}
	if c.other != nil {
		return c.foreign(v)
	}
	switch v := v.(type) {
	case Value:
		if v.IsAbsent() {
			return Null(), nil
		}
		return v, nil
	case map[string]string:
		return c.textObject(v, former)
	case []string:
		return c.textList(v, former)
	}
	return fromOtherNumber(v)
}

// foreign converts v by [Decoder.Other].
func (c *converter) foreign(v any) (Value, *ConversionError) {
	out, err := c.other(v)
	if err != nil {
		return Value{}, &ConversionError{Reason: fmt.Sprintf("a value of Go type %T", v), Err: err}
	}
	if out.IsAbsent() {
		out = Null()
	}
	return out, nil
}

// textObject converts an object whose members are all strings.
func (c *converter) textObject(m map[string]string, former Value) (Value, *ConversionError) {
	out := c.arena.members.Take(len(m))[:0]
	for name, text := range m {
		out = append(out, Member{name, fromString(text)})
	}
	sortStable(out)
	return c.texts(fromMembers(out), former)
}

// textList converts a list whose items are all strings.
func (c *converter) textList(l []string, former Value) (Value, *ConversionError) {
	out := c.arena.items.Take(len(l))[:0]
	for _, text := range l {
		out = append(out, fromString(text))
	}
	return c.texts(fromItems(out), former)
}

// texts returns v, a container of strings, or former itself if both are equal.
func (c *converter) texts(v, former Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	c.depth--
	c.values += v.Len()
	if v.Equal(former) {
		c.shared += min(v.Len(), 1)
		return former, nil
	}
	return v, nil
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
		if uint64(v) > math.MaxInt64 {
			return Value{}, inexpressible("%d is larger than an int64", v)
		}
		return Int(int64(v)), nil
	case float32:
		return fromFloat(jsontext.Widen(v))
	}
	return Value{}, inexpressible("a value of Go type %T is no JSON value", v)
}

// fromFloat returns f, or an error if JSON cannot express f.
func fromFloat(f float64) (Value, *ConversionError) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, inexpressible("JSON has no number %v", f)
	}
	return Float(f), nil
}

// enter opens a container. Its error ends the conversion of a map that holds itself.
func (c *converter) enter() *ConversionError {
	if c.depth++; c.depth > MaxDepth {
		return inexpressible("nested deeper than %d", MaxDepth)
	}
	return nil
}

// object converts m. It guesses the names of m from a sibling object, or else from the shape of
// earlier objects. Members with the guessed names come first, in order. object sorts only if m has
// other members.
//
// Cost: linear in m if the guess is right, and n log n otherwise.
func (c *converter) object(m map[string]any) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	except, n := c.exceptIn(m)
	out := c.arena.members.Take(n)
	named, usual := c.named, c.shapes.of(c.under, n)
	if c.named = nil; len(named) != n && usual != nil {
		named = usual.members
	}
	done, err := c.inOrder(m, named, except, out)
	if err == nil && done < n {
		err = c.inAnyOrder(m, except, out, done)
	}
	if err != nil {
		return Value{}, err
	}
	usual.met(out, done == n)
	c.depth--
	return fromMembers(out), nil
}

// manyMembers is the size from which an object is more likely a map of one type than a struct.
const manyMembers = 16

// inOrder converts members of m in the order of named, an object that probably has the same names.
// It looks up each name, so it neither iterates over m nor sorts. It ends at the first name that m
// lacks or that is omitted, and returns the number of members in out.
func (c *converter) inOrder(m map[string]any, named []Member, except []string, out []Member) (n int, _ *ConversionError) {
	if len(named) != len(out) {
		return 0, nil
	}
	for i := range named {
		name := named[i].Name
		x, ok := m[name]
		if !ok || except != nil && c.omits(except, name, x) {
			return i, nil
		}
		c.under = name
		v, err := c.value(x, Value{})
		if err != nil {
			return 0, err.within("." + name)
		}
		out[i] = Member{name, v}
	}
	return len(out), nil
}

// inAnyOrder converts the members of m that out[:done] lacks, and sorts out.
func (c *converter) inAnyOrder(m map[string]any, except []string, out []Member, done int) *ConversionError {
	before, i := out[:done], done
	for name, x := range m {
		if _, ok := search(before, name); ok || except != nil && c.omits(except, name, x) {
			continue
		}
		c.under = name
		v, err := c.value(x, Value{})
		if err != nil {
			return err.within("." + name)
		}
		out[i] = Member{name, v}
		i++
		if len(out) >= manyMembers && v.Kind() == KindObject {
			c.named = v.object() // the members of a large object mostly have one type
		}
	}
	c.named = nil
	sortStable(out)
	return nil
}

// exceptIn returns the path of the member to omit from m, or nil, and the number of members that
// remain in m.
func (c *converter) exceptIn(m map[string]any) (path []string, n int) {
	if path, n = c.except, len(m); path == nil {
		return nil, n
	}
	c.except = nil
	if _, ok := m[path[0]]; ok && len(path) == 1 {
		n--
	}
	return path, n
}

// omits reports whether path, which begins in a map, ends at the member x called name. If the path
// continues in x, omits stores the rest for the conversion of x, which comes next.
func (c *converter) omits(path []string, name string, x any) bool {
	if name != path[0] {
		return false
	}
	if _, ok := x.(map[string]any); ok && len(path) > 1 {
		c.except = path[1:]
	}
	return len(path) == 1
}

// list converts l item by item. former is the earlier list in the same place.
func (c *converter) list(l []any, former Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	var out itemDraft
	c.beginItems(&out, len(l), former)
	under := c.under
	for i, x := range l {
		c.under = under
		v, err := c.value(x, out.oldItem(i))
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(v)
		if out.old == nil && v.Kind() == KindObject {
			c.named = v.object() // items mostly have the same names
		}
	}
	c.named = nil
	c.depth--
	return c.closeItems(&out), nil
}

// ToAny returns v as encoding/json and unstructured Kubernetes objects hold it: nil, bool, int64,
// float64, string, []any and map[string]any. Maps and slices are new and belong to the caller. The
// absent Value gives nil.
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
