package value

import (
	"encoding/json"
	"slices"
	"sync"

	deed "github.com/deed-project/deed/value"
)

// Maps and texts of methods like MarshalJSON. Unstructured objects hold managed fields as maps, and metav1.FieldsV1 holds them as
// text, so both are converted at each write. What is common there, maps and plain strings, has a way of its own; encoding/json does
// the rest, and says what is wrong.

// marshal returns x as JSON, in the very bytes of [json.Marshal].
func marshal(x any) ([]byte, error) {
	p := printers.Get().(*printer)
	defer printers.Put(p)
	text, ok := p.value(make([]byte, 0, 512), x, 0)
	if !ok {
		return json.Marshal(x)
	}
	return text, nil
}

// printer prints maps.
type printer struct {
	names []string // of the maps that are open, the innermost last
}

var printers = sync.Pool{New: func() any { return new(printer) }}

// value appends x to b. It returns false if x holds anything but maps, bools, nil and plain strings.
func (p *printer) value(b []byte, x any, depth int) ([]byte, bool) {
	switch x := x.(type) {
	case map[string]any:
		if x == nil || depth > deed.MaxDepth {
			return nil, false
		}
		return p.object(b, x, depth)
	case string:
		return plainString(b, x)
	case bool:
		if x {
			return append(b, "true"...), true
		}
		return append(b, "false"...), true
	case nil:
		return append(b, "null"...), true
	}
	return nil, false
}

// object appends x, its members sorted by name.
func (p *printer) object(b []byte, x map[string]any, depth int) (_ []byte, ok bool) {
	first := len(p.names)
	for name := range x {
		p.names = append(p.names, name)
	}
	names := p.names[first:]
	defer func() {
		clear(names)
		p.names = p.names[:first]
	}()
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = plainString(b, name); !ok {
			return nil, false
		}
		if b, ok = p.value(append(b, ':'), x[name], depth+1); !ok {
			return nil, false
		}
	}
	return append(b, '}'), true
}

// plainString appends s in quotes. It returns false if more than quotes and backslashes must be escaped in s.
func plainString(b []byte, s string) ([]byte, bool) {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~' || c == '<' || c == '>' || c == '&':
			return nil, false
		default:
			b = append(b, c)
		}
	}
	return append(b, '"'), true
}

// readMap returns the map that text is. It returns false if text is no JSON, or holds numbers: a document does not say whether one
// was written as an integer.
func readMap(text []byte) (map[string]any, bool) {
	d := deed.Decoder{Repair: true, Repeats: true}
	v, err := d.Parse(text)
	if err != nil || v.Kind() != deed.KindObject {
		return nil, false
	}
	return toMap(v)
}

// toMap returns v, an object, as a map, and false if it holds numbers.
func toMap(v deed.Value) (map[string]any, bool) {
	out := make(map[string]any, v.Len())
	for name, member := range v.Members() {
		x, ok := withoutNumbers(member)
		if !ok {
			return nil, false
		}
		out[name] = x
	}
	return out, true
}

// withoutNumbers is v.ToAny, and false if v holds numbers.
func withoutNumbers(v deed.Value) (any, bool) {
	switch v.Kind() {
	case deed.KindInt, deed.KindFloat:
		return nil, false
	case deed.KindObject:
		return toMap(v)
	case deed.KindList:
		out := make([]any, v.Len())
		for i := range out {
			var ok bool
			if out[i], ok = withoutNumbers(v.Item(i)); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return v.ToAny(), true
}
