package wire

import "bytes"

// indenter puts line breaks into JSON text that comes piece by piece, as json.Indent does with two spaces. The zero indenter is at the beginning
// of a text.
type indenter struct {
	depth   int
	opened  bool // a container was just opened: it may be empty
	inText  bool // a string goes on in the next piece
	escaped bool // its next byte does not end it
}

// append appends the next piece of a valid text.
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

// endOfText returns how many bytes of a piece belong to the string that goes on in it.
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
			if more := bytes.IndexAny(text[i:], `"\`); more > 0 {
				i += more - 1
			} else if more < 0 {
				return len(text)
			}
		}
	}
	return len(text)
}

func (n *indenter) breakLine(b []byte) []byte {
	b = append(b, '\n')
	for range n.depth {
		b = append(b, "  "...)
	}
	return b
}
