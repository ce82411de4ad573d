package wire

import "bytes"

// Indenting a list while it is sent. json.Indent needs the whole text; this one keeps only where in the text it is:
//
//	{"a":[],"b":{"c":1}}     depth 1 after {, opened after [ and {, inText between quotes
//
// The text is trusted: it comes from the encoders of this server. A piece may end anywhere, also within a string or an escape.

// indenter indents JSON text that arrives in pieces, like json.Indent with two spaces. The zero indenter is at the beginning of a text.
type indenter struct {
	depth   int
	opened  bool // the last token opened a container, which may be empty
	inText  bool // the next piece continues a string
	escaped bool // the next byte is escaped, so that it does not end the string
}

// append appends the next piece of a valid text to b, indented.
//
// Between strings it looks at each byte, and strings are copied as a whole. White space of the text is dropped.
func (n *indenter) append(b, text []byte) []byte {
	for len(text) > 0 {
		if n.inText {
			end := n.endOfText(text)
			b, text = append(b, text[:end]...), text[end:]
			continue
		}
		c := text[0]
		text = text[1:]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		// The container is not empty, so its first member gets a line of its own. An empty one is closed on the same line.
		case n.opened && c != '}' && c != ']':
			n.opened = false
			n.depth++
			b = n.breakLine(b)
		}
		switch c {
		case '{', '[':
			n.opened = true
			b = append(b, c)
		case ',':
			b = n.breakLine(append(b, c))
		case ':':
			b = append(b, ": "...)
		case '}', ']':
			if n.opened {
				n.opened = false
			} else {
				n.depth--
				b = n.breakLine(b)
			}
			b = append(b, c)
		default:
			n.inText = c == '"'
			b = append(b, c)
		}
	}
	return b
}

// endOfText returns the number of leading bytes of text that belong to the current string.
func (n *indenter) endOfText(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case n.escaped:
			n.escaped = false
		case text[i] == '\\':
			n.escaped = true
		case text[i] == '"':
			n.inText = false
			return i + 1
		default:
			// Jump to the next byte that matters.
			if more := bytes.IndexAny(text[i:], `"\`); more > 0 {
				i += more - 1
			} else if more < 0 {
				return len(text)
			}
		}
	}
	return len(text)
}

// breakLine begins a new line at the current depth.
func (n *indenter) breakLine(b []byte) []byte {
	b = append(b, '\n')
	for range n.depth {
		b = append(b, "  "...)
	}
	return b
}
