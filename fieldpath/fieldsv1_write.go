package fieldpath

import "sync"

// AppendJSON appends s to b as the fieldsV1 of managedFields, byte for byte as kube-apiserver writes it. It is an object
// with one member per element, named by [Element.AppendWire], whose value is the object of what is below. A member of the
// set below which there are members has first of all a member named "." there.
func (s Set) AppendJSON(b []byte) []byte {
	if s.IsEmpty() {
		return append(b, "{}"...)
	}
	scratch := printers.Get().(*[]byte)
	out := s.print(scratch)
	b = append(b, out...)
	printers.Put(scratch)
	return b
}

// JSON returns what [Set.AppendJSON] appends.
func (s Set) JSON() string {
	if s.IsEmpty() {
		return "{}"
	}
	scratch := printers.Get().(*[]byte)
	text := string(s.print(scratch))
	printers.Put(scratch)
	return text
}

// printers hold scratch that sets are printed to, so that what they are appended to grows once, to the size it needs.
var printers = sync.Pool{New: func() any { return new([]byte) }}

// print prints s, which is not empty, to scratch, unless that would be too large to keep.
func (s Set) print(scratch *[]byte) []byte {
	out := appendNodes(append((*scratch)[:0], '{'), &s.texts, s.nodes)
	out[len(out)-1] = '}'
	if cap(out) <= maxScratchText {
		*scratch = out
	}
	return out
}

// MarshalJSON implements [encoding/json.Marshaler] by [Set.AppendJSON].
func (s Set) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// appendNodes appends the entries for nodes, with a comma behind each.
func appendNodes(b []byte, t *texts, nodes []node) []byte {
	for i := 0; i < len(nodes); {
		n := &nodes[i]
		if n.has(lone) && n.skip == 1 {
			i = loneRun(nodes, i)
			last := &nodes[i-1]
			b = append(b, n.around(t, len(`"f:`), int(last.at+last.len-n.at-n.len)+len(`":{}`))...)
			b = append(b, ',')
			continue
		}
		switch {
		case n.has(quoted):
			spelling := n.spelling(t)
			b = append(b, spelling[:len(spelling)-1]...) // the quote comes with what follows
		case n.kind() == KindField:
			b = appendEscaped(append(b, `"f:`...), n.in(t))
		default:
			b = appendWireEscaped(append(b, '"'), n.element(t))
		}
		if n.skip == 1 {
			b = append(b, `":{},`...)
			i++
			continue
		}
		b = append(b, `":{`...)
		if n.has(included) {
			b = append(b, `".":{},`...)
		}
		next := i + int(n.skip)
		b = appendNodes(b, t, nodes[i+1:next])
		b[len(b)-1] = '}'
		b = append(b, ',')
		i = next
	}
	return b
}

// loneRun returns the end of the run of leaves that begins at i, all lone, with no more than a comma between two.
func loneRun(nodes []node, i int) int {
	next := nodes[i].at + nodes[i].len + uint32(len(`":{},"f:`))
	for i++; i < len(nodes); i++ {
		n := &nodes[i]
		if n.at != next || n.skip > 1 || !n.has(lone) {
			break
		}
		next += n.len + uint32(len(`":{},"f:`))
	}
	return i
}

// appendWireEscaped appends a key, item or index as it stands within a JSON string.
func appendWireEscaped(b []byte, e Element) []byte {
	switch start := len(b); e.kind {
	case KindKey:
		b = append(b, "k:{"...)
		for text, first := e.text, true; text != ""; first = false {
			if !first {
				b = append(b, ',')
			}
			var name string
			if name, text = cutText(text); !isSimple(name) {
				return appendSlowly(b[:start], e)
			}
			b = append(append(append(b, `\"`...), name...), `\":`...)
			var ok bool
			if b, text, ok = appendScalar(b, text); !ok {
				return appendSlowly(b[:start], e)
			}
		}
		return append(b, '}')
	case KindItem:
		if b, _, ok := appendScalar(append(b, "v:"...), e.text); ok {
			return b
		}
		return appendSlowly(b[:start], e)
	}
	return appendSlowly(b, e)
}

// appendScalar appends the value whose encoding text begins with as it stands within a JSON string, and returns what
// follows it. It fails for lists, objects and strings that need escapes.
func appendScalar(b []byte, text string) (out []byte, rest string, ok bool) {
	switch text[0] {
	case tagString:
		s, rest := cutText(text[1:])
		if !isSimple(s) {
			return b, rest, false
		}
		return append(append(append(b, `\"`...), s...), `\"`...), rest, true
	case tagList, tagObject:
		return b, text, false
	}
	out, rest = appendEncoded(b, text, styleWire)
	return out, rest, true
}

// isSimple reports whether s stands for itself within every string.
func isSimple(s string) bool {
	for i := range len(s) {
		if !simple[s[i]] {
			return false
		}
	}
	return true
}

// appendSlowly is appendWireEscaped for every element.
func appendSlowly(b []byte, e Element) []byte {
	return appendEscaped(b, e.Wire())
}
