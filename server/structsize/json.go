package structsize

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/deed-project/deed/internal/jsontext"
)

// How much memory the Go structs of a JSON text take, found without decoding it. A short text can make large structs:
//
//	{"containers":[{},{},{}, ...]}     three bytes of text for a struct of several hundred bytes
//
// So the text is scanned along the Go type. Each item of a list, entry of a map and pointer counts what it makes the decoder allocate.

// JSON returns ErrSize if a value of type t that a JSON text is read into would take too much memory. Its cost is linear in the length of
// the text. It reports no syntax errors: the decoder of the text does.
//
// The outcome is an upper bound, up to the growth of lists.
func JSON(text []byte, t reflect.Type) error {
	if len(text) <= surely {
		return nil
	}
	m := newMeter(text)
	m.json(text, t)
	return m.err()
}

// open is a container in a text that has not ended: what the values in it are read into, nil for what is skipped.
type open struct {
	list    bool
	members map[string]reflect.Type // of a struct
	each    reflect.Type            // of the items of a list and the entries of a map
	cost    int64                   // of each of them
}

// json counts what a text takes that is read into a value of type t.
func (m *meter) json(text []byte, t reflect.Type) {
	var stack []open
	next := t // the type of the value that comes next, nil if it is skipped
	s := jsontext.Skim(text)
	for m.left >= 0 && len(stack) <= maxDepth {
		var in open
		if n := len(stack); n > 0 {
			in = stack[n-1]
		}
		if in.list {
			next = in.each
		}
		switch c, start := s.Token(); c {
		case 0:
			return
		// They do not matter: what comes next follows from the container.
		case ',', ':':
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case '{', '[':
			m.left -= in.cost
			stack = append(stack, m.enter(next, c == '['))
		case '"':
			quoted := text[start:s.Pos]
			if s.Space(); s.Peek() == ':' && !in.list {
				next = in.of(quoted)
			} else {
				m.left -= in.cost
				m.point(next)
			}
		default: // a number or a word
			m.left -= in.cost
			if c != 'n' {
				m.point(next)
			}
		}
	}
}

// of returns the type of the member that has a name, which is quoted.
//
// Names are case-sensitive, as for kube-apiserver's decoder. Members that the type lacks are skipped.
func (o open) of(quoted []byte) reflect.Type {
	if o.members == nil {
		return o.each
	}
	name := quoted[1:max(1, len(quoted)-1)]
	if bytes.IndexByte(name, '\\') < 0 {
		return o.members[string(name)]
	}
	var unquoted string
	if json.Unmarshal(quoted, &unquoted) != nil {
		return nil
	}
	return o.members[unquoted]
}

// enter counts what a container points to that is read into a value of type t, and returns what is in it.
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
