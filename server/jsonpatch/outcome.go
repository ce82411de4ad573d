package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// What a draft has become: a document, a text, a copy, or the other side of a comparison. All of it walks the opened nodes, and takes the
// rest as it is.

var errTooDeep = errors.New("the outcome is nested deeper than 10000")

// value returns the document of a node at a depth. Parts that no operation changed share storage with the original. It fails for a
// malformed text and for an outcome that is nested too deeply.
//
// If no part changed, the outcome is the original value itself, which later steps recognize by its storage.
func (n *node) value(depth int) (value.Value, error) {
	switch {
	case depth > jsontext.MaxDepth:
		return value.Value{}, errTooDeep
	case n == nil:
		return value.Null(), nil
	case n.members != nil:
		return n.members.value(depth)
	case n.items != nil:
		return n.items.value(depth)
	}
	if err := n.read(); err != nil {
		return value.Value{}, err
	}
	return n.whole, nil
}

// value returns the object. Its members are sorted, because all yields them by name.
func (m *members) value(depth int) (value.Value, error) {
	out, same := make([]value.Member, 0, m.count), m.count == m.were.Len()
	for name, part := range m.all {
		is := part.was
		if part.led {
			var err error
			if is, err = part.node.value(depth + 1); err != nil {
				return value.Value{}, err
			}
			same = same && is.Same(part.was)
		}
		out = append(out, value.Member{Name: name, Value: is})
	}
	if same {
		return m.were, nil
	}
	return value.Object(out...), nil
}

// all yields all members by name. An added member has no original.
//
// It merges the original members, which are sorted, with the sorted names of the added ones.
func (m *members) all(yield func(name string, part item) bool) {
	added := make([]string, 0, len(m.now))
	for name := range m.now {
		if m.were.Get(name).IsAbsent() {
			added = append(added, name)
		}
	}
	slices.Sort(added)
	for name, was := range m.were.Members() {
		for len(added) > 0 && added[0] < name {
			if !yield(added[0], item{node: m.now[added[0]], led: true}) {
				return
			}
			added = added[1:]
		}
		part, led := m.now[name]
		if m.gone[name] {
			continue
		}
		if !yield(name, item{was, part, led}) {
			return
		}
	}
	for _, name := range added {
		if !yield(name, item{node: m.now[name], led: true}) {
			return
		}
	}
}

// value returns the list.
func (l *items) value(depth int) (value.Value, error) {
	out, same := make([]value.Value, l.now.count), l.now.count == l.were.Len()
	for i, at := range l.now.all {
		out[i] = at.was
		if at.led {
			var err error
			if out[i], err = at.node.value(depth + 1); err != nil {
				return value.Value{}, err
			}
		}
		same = same && out[i].Same(l.were.Item(i))
	}
	if same {
		return l.were, nil
	}
	return value.List(out...), nil
}

// appendText appends the text of a node at a depth.
//
// Texts that operations wrote are printed as they were written, without white space.
func (n *node) appendText(b []byte, depth int) (_ []byte, err error) {
	switch {
	case depth > jsontext.MaxDepth:
		return b, errTooDeep
	case n == nil:
		return append(b, "null"...), nil
	case n.text != nil:
		return append(b, n.text...), nil
	case n.members != nil:
		b = append(b, '{')
		for name, part := range n.members.all {
			b = append(jsontext.AppendString(comma(b), name, jsontext.Standard), ':')
			if b, err = part.appendText(b, depth); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	case n.items != nil:
		b = append(b, '[')
		for _, at := range n.items.now.all {
			if b, err = at.appendText(comma(b), depth); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
	return n.whole.AppendJSON(b), nil
}

// appendText appends the text of an item or member of a node at a depth.
func (at item) appendText(b []byte, depth int) ([]byte, error) {
	if at.led {
		return at.node.appendText(b, depth+1)
	}
	return at.was.AppendJSON(b), nil
}

// comma appends a comma unless b ends with an opening bracket.
func comma(b []byte) []byte {
	if last := b[len(b)-1]; last == '{' || last == '[' {
		return b
	}
	return append(b, ',')
}

// checkDepth returns an error if v at a depth is nested too deeply to be read again.
//
// It is needed beside the checks of value, since a part may have been deep before it was moved down.
func checkDepth(v value.Value, depth int) error {
	if depth > jsontext.MaxDepth {
		return errTooDeep
	}
	for _, part := range v.Members() {
		if err := checkDepth(part, depth+1); err != nil {
			return err
		}
	}
	for part := range v.Items() {
		if err := checkDepth(part, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// copy returns an independent copy of n, and the length of its text.
//
// The length is that of the library's print, which escapes some characters, and counts against MaxCopied.
func (n *node) copy() (*node, int64, error) {
	if n == nil {
		return nil, 0, nil
	}
	if n.text == nil && n.members == nil && n.items == nil {
		return &node{whole: n.whole}, int64(len(n.whole.AppendJSON(nil))), nil
	}
	text, err := n.appendText(nil, 0)
	if err != nil {
		return nil, 0, err
	}
	printed, err := json.Marshal(json.RawMessage(text))
	return &node{text: text}, int64(len(printed)), err
}

// equals reports whether n equals a value that an operation wrote. The library compares the texts of numbers and strings, so another
// spelling than the canonical one is not equal.
func (n *node) equals(written *node) bool {
	switch {
	case n.isNull() || written.isNull():
		return n.isNull() && written.isNull() && (n == nil || written != nil)
	case n.text != nil && bytes.Equal(n.text, written.text):
		return true
	case n.text != nil && !asPrinted(n.text), !asPrinted(written.text), n.read() != nil, written.read() != nil:
		return false
	}
	return n.is(written.whole)
}

// isNull reports whether a node is a null, or missing.
func (n *node) isNull() bool { return n == nil || n.text == nil && n.whole.IsNull() }

// is reports whether n equals v.
func (n *node) is(v value.Value) bool {
	switch {
	case n == nil:
		return v.IsNull()
	case n.members != nil:
		return n.members.are(v)
	case n.items != nil:
		return n.items.are(v)
	}
	return n.read() == nil && n.whole.Equal(v)
}

// are reports whether the object equals v. A null that an operation wrote does not equal the null of v, as in the library.
func (m *members) are(v value.Value) bool {
	if v.Kind() != value.KindObject || v.Len() != m.count {
		return false
	}
	for name, want := range v.Members() {
		part, led := m.now[name]
		if led && (part != nil && part.isNull() || !part.is(want)) || !led && (m.gone[name] || !m.were.Get(name).Equal(want)) {
			return false
		}
	}
	return true
}

// are reports whether the list equals v.
func (l *items) are(v value.Value) bool {
	if v.Kind() != value.KindList || v.Len() != l.now.count {
		return false
	}
	for i, at := range l.now.all {
		if at.led && !at.node.is(v.Item(i)) || !at.led && !at.was.Equal(v.Item(i)) {
			return false
		}
	}
	return true
}

// asPrinted reports whether the numbers and string values in a JSON text have the spelling of encoding/json.
//
// Names do not count: the library decodes them before it compares.
func asPrinted(text []byte) bool {
	s := jsontext.Scanner{Text: string(text)}
	for s.Space(); s.Pos < len(s.Text); s.Space() {
		start := s.Pos
		switch c := s.Peek(); {
		case c == '"':
			if s.SkipString() != nil {
				return false
			}
			word := s.Text[start:s.Pos]
			if s.Space(); s.Peek() != ':' && !isPrinted(word) {
				return false
			}
		case c == '-' || '0' <= c && c <= '9':
			if _, _, _, err := s.Number(); err != nil || !isPrinted(s.Text[start:s.Pos]) {
				return false
			}
		default:
			s.Pos++
		}
	}
	return true
}

// isPrinted reports whether a number or a string has the canonical spelling.
func isPrinted(word string) bool {
	v, err := value.Parse([]byte(word))
	return err == nil && string(v.AppendJSON(nil)) == word
}
