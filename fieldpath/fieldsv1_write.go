package fieldpath

import "slices"

// AppendJSON appends s to b as the fieldsV1 of managedFields, byte for byte as kube-apiserver writes it. It is an object
// with one member per element, named by [Element.AppendWire], whose value is the object of what is below. A member of the
// set below which there are members has first of all a member named "." there.
func (s Set) AppendJSON(b []byte) []byte {
	size := len("{}")
	for i := range s.nodes {
		n := &s.nodes[i]
		size += len(n.text) + len(`"f:":{},`)
		if n.kind != KindField {
			size += 16 // quotes and brackets
		}
		if n.member && n.skip > 1 {
			size += len(`".":{},`)
		}
	}
	b = append(slices.Grow(b, size), '{')
	if b = appendNodes(b, s.nodes); s.IsEmpty() {
		return append(b, '}')
	}
	b[len(b)-1] = '}'
	return b
}

// MarshalJSON implements [encoding/json.Marshaler] by [Set.AppendJSON].
func (s Set) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// appendNodes appends the entries for nodes, with a comma behind each.
func appendNodes(b []byte, nodes []node) []byte {
	for i := 0; i < len(nodes); {
		n := &nodes[i]
		if n.kind != KindField {
			b = appendWireEscaped(append(b, '"'), n)
		} else if b = append(b, `"f:`...); isPlain(n.text) {
			b = append(b, n.text...)
		} else {
			b = appendEscaped(b, n.text)
		}
		if n.skip == 1 {
			b = append(b, `":{},`...)
			i++
			continue
		}
		b = append(b, `":{`...)
		if n.member {
			b = append(b, `".":{},`...)
		}
		next := i + int(n.skip)
		b = appendNodes(b, nodes[i+1:next])
		b[len(b)-1] = '}'
		b = append(b, ',')
		i = next
	}
	return b
}

// appendWireEscaped appends a key, item or index as it stands within a JSON string.
func appendWireEscaped(b []byte, n *node) []byte {
	switch start := len(b); n.kind {
	case KindKey:
		b = append(b, "k:{"...)
		for text, first := n.text, true; text != ""; first = false {
			if !first {
				b = append(b, ',')
			}
			var name string
			if name, text = cutText(text); !isSimple(name) {
				return appendSlowly(b[:start], n)
			}
			b = append(append(append(b, `\"`...), name...), `\":`...)
			var ok bool
			if b, text, ok = appendScalar(b, text); !ok {
				return appendSlowly(b[:start], n)
			}
		}
		return append(b, '}')
	case KindItem:
		if b, _, ok := appendScalar(append(b, "v:"...), n.text); ok {
			return b
		}
		return appendSlowly(b[:start], n)
	}
	return appendSlowly(b, n)
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
func appendSlowly(b []byte, n *node) []byte {
	return appendEscaped(b, n.element().Wire())
}
