package structsize

import (
	"encoding/json"
	"reflect"
	"strings"
)

// JSON returns ErrSize if decoding a JSON text into a value of type t would take too much memory. Its cost is linear in the text. It
// ignores syntax errors, which the decoder reports.
func JSON(text []byte, t reflect.Type) error {
	if len(text) <= surely {
		return nil
	}
	m := newMeter(text)
	m.json(text, t)
	return m.err()
}

// open is an unfinished container in a text, and the types that its values decode into; nil means skipped.
type open struct {
	list    bool
	members map[string]reflect.Type // of a struct
	each    reflect.Type            // of items of a list and entries of a map
	cost    int64                   // of each item or entry
}

// json counts the memory for decoding a text into a value of type t.
func (m *meter) json(text []byte, t reflect.Type) {
	var stack []open
	next := t // type of the next value; nil if it is skipped
	for i := 0; i < len(text) && m.left >= 0; i++ {
		var in open
		if n := len(stack); n > 0 {
			in = stack[n-1]
		}
		if in.list {
			next = in.each
		}
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case '{', '[':
			m.left -= in.cost
			stack = append(stack, m.enter(next, c == '['))
		case '"':
			end := endOfString(text, i)
			if isName(text, end) && !in.list {
				next = in.of(text[i:end])
			} else {
				m.left -= in.cost
				m.point(next)
			}
			i = end - 1
		default: // a number, true, false or null
			m.left -= in.cost
			if c != 'n' {
				m.point(next)
			}
			for i+1 < len(text) && !strings.ContainsRune(" \t\r\n,:{}[]\"", rune(text[i+1])) {
				i++
			}
		}
		if len(stack) > maxDepth {
			return
		}
	}
}

// endOfString returns the end of the string that begins at i.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(text))
}

// isName reports whether the string that ends at i is the name of a member.
func isName(text []byte, i int) bool {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i < len(text) && text[i] == ':'
}

// of returns the type of the member with a quoted name.
func (o open) of(quoted []byte) reflect.Type {
	if o.members == nil {
		return o.each
	}
	name := quoted[1:max(1, len(quoted)-1)]
	for _, c := range name {
		if c == '\\' {
			var unquoted string
			if json.Unmarshal(quoted, &unquoted) != nil {
				return nil
			}
			return o.members[unquoted]
		}
	}
	return o.members[string(name)]
}

// enter counts the memory behind the pointer of a container of type t, and returns the types of its values.
func (m *meter) enter(t reflect.Type, list bool) open {
	o := open{list: list}
	if t = m.point(t); t == nil {
		return o
	}
	s := shapeOf(t)
	switch {
	case s.reads && list && s.list != nil:
		o.each, o.cost = s.list, itemCost(s.list)
	case s.reads && !list && s.object != nil:
		m.left -= int64(s.object.Size())
		o.members = shapeOf(s.object).members
	case s.reads:
	case list && t.Kind() == reflect.Slice:
		o.each, o.cost = t.Elem(), itemCost(t.Elem())
	case !list && t.Kind() == reflect.Map:
		o.each, o.cost = t.Elem(), entryCost(t)
	case !list && t.Kind() == reflect.Struct:
		o.members = s.members
	}
	return o
}
