package value

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	deed "github.com/deed-project/deed/value"
)

// This file converts between maps and the texts of methods like MarshalJSON. Unstructured objects hold managed fields as maps, and
// metav1.FieldsV1 holds them as text, so each write converts both. Maps and plain strings, the common case, have a fast path.
// encoding/json converts other values and reports errors.

// printer prints maps.
type printer struct {
	text    []byte
	members []printedMember // of the maps that are open, the innermost last
}

// printedMember is a member of a map that is open.
type printedMember struct {
	name  string
	value any
}

var printers = sync.Pool{New: func() any { return new(printer) }}

// maxScratch bounds the bytes of text, and the members, that a printer or reader keeps for the next text.
const maxScratch = 1 << 16

// marshal returns x as JSON, with the same bytes as [json.Marshal]. The result is valid until the printer is released.
func (p *printer) marshal(x any) ([]byte, error) {
	text, ok := p.value(p.text[:0], x, 0)
	if !ok {
		return json.Marshal(x)
	}
	p.text = text
	return text, nil
}

// release returns p to the pool.
func (p *printer) release() {
	clear(p.members)
	if cap(p.text) > maxScratch || cap(p.members) > maxScratch {
		*p = printer{}
	}
	p.members = p.members[:0]
	printers.Put(p)
}

// value appends x to b. It returns false if x holds anything but maps, bools, nil and plain strings.
func (p *printer) value(b []byte, x any, depth int) ([]byte, bool) {
	switch x := x.(type) {
	case map[string]any:
		switch {
		case x == nil || depth > deed.MaxDepth:
			return nil, false
		case len(x) == 0: // as most maps in fieldsV1
			return append(b, "{}"...), true
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

// object appends x, with its members sorted by name.
func (p *printer) object(b []byte, x map[string]any, depth int) (_ []byte, ok bool) {
	first := len(p.members)
	for name, value := range x {
		p.members = append(p.members, printedMember{name, value})
	}
	members := p.members[first:]
	slices.SortFunc(members, func(a, b printedMember) int { return strings.Compare(a.name, b.name) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = plainString(b, m.name); !ok {
			return nil, false
		}
		if b, ok = p.value(append(b, ':'), m.value, depth+1); !ok {
			return nil, false
		}
	}
	clear(members)
	p.members = p.members[:first]
	return append(b, '}'), true
}

// plainChars holds the printable ASCII characters that [json.Marshal] writes unchanged.
var plainChars = func() (set [256]bool) {
	for c := ' '; c <= '~'; c++ {
		set[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return set
}()

// plainString appends s in quotes. It returns false if s has other characters than plain ones, quotes and backslashes.
func plainString(b []byte, s string) ([]byte, bool) {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		switch c := s[i]; {
		case plainChars[c]:
		case c == '"' || c == '\\':
			b = append(append(b, s[start:i]...), '\\')
			start = i
		default:
			return nil, false
		}
	}
	return append(append(b, s[start:]...), '"'), true
}

// readMap parses text to a map. It returns false if text is not a JSON object or has numbers. A document does not keep whether a
// number was written as an integer.
func readMap(text []byte) (map[string]any, bool) {
	if m, ok := readPlain(string(text)); ok {
		return m, true
	}
	d := deed.Decoder{Repair: true, Repeats: true}
	v, err := d.Parse(text)
	if err != nil || v.Kind() != deed.KindObject {
		return nil, false
	}
	return toMap(v)
}

// reader parses maps of maps with plain names and without white space. Nearly all texts of fieldsV1 have this form. Names share the
// memory of the text. Names with escapes share the buffer unescaped.
type reader struct {
	text      string
	pos       int
	members   []mapMember     // of the maps that are open, the innermost last
	unescaped strings.Builder // never grows after its allocation, so that names in it stay valid
}

type mapMember struct {
	name  string
	below map[string]any
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// readPlain parses text to a map. It returns false if a reader cannot parse all of it.
func readPlain(text string) (map[string]any, bool) {
	r := readers.Get().(*reader)
	defer r.release()
	r.text = text
	m, ok := r.object(0)
	return m, ok && r.pos == len(text)
}

// release returns r to the pool, without the memory of the result.
func (r *reader) release() {
	clear(r.members)
	members := r.members[:0]
	if cap(members) > maxScratch {
		members = nil
	}
	*r = reader{members: members}
	readers.Put(r)
}

// pass passes c, and reports whether it was next.
func (r *reader) pass(c byte) bool {
	if r.pos == len(r.text) || r.text[r.pos] != c {
		return false
	}
	r.pos++
	return true
}

// object parses a map. Of members with the same name, the last one counts.
func (r *reader) object(depth int) (map[string]any, bool) {
	const deep = 100
	if depth == deep || !r.pass('{') {
		return nil, false
	}
	if r.pass('}') {
		return map[string]any{}, true
	}
	first := len(r.members)
	for more := true; more; more = r.pass(',') {
		name, ok := r.name()
		if !ok || !r.pass(':') {
			return nil, false
		}
		below, ok := r.object(depth + 1)
		if !ok {
			return nil, false
		}
		r.members = append(r.members, mapMember{name, below})
	}
	out := make(map[string]any, len(r.members)-first)
	for _, m := range r.members[first:] {
		out[m.name] = m.below
	}
	clear(r.members[first:])
	r.members = r.members[:first]
	return out, r.pass('}')
}

// name parses a string of plain characters and of escaped quotes and backslashes.
func (r *reader) name() (string, bool) {
	if !r.pass('"') {
		return "", false
	}
	start, first := r.pos, r.unescaped.Len()
	for ; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; {
		case plainChars[c]:
		case c == '"':
			run := r.text[start:r.pos]
			r.pos++
			if r.unescaped.Len() == first {
				return run, true
			}
			r.unescaped.WriteString(run)
			return r.unescaped.String()[first:], true
		case c == '\\' && r.pos+1 < len(r.text) && (r.text[r.pos+1] == '"' || r.text[r.pos+1] == '\\'):
			if r.unescaped.Cap() == 0 {
				r.unescaped.Grow(len(r.text) - start)
			}
			r.unescaped.WriteString(r.text[start:r.pos])
			r.pos++
			start = r.pos
		default:
			return "", false
		}
	}
	return "", false
}

// toMap returns v, an object, as a map, or false if v has numbers.
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

// withoutNumbers returns v.ToAny, or false if v has numbers.
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
