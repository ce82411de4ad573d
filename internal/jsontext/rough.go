package jsontext

import "bytes"

// Rough finds the bounds of JSON values without checking them. Its texts are parsed before or afterwards. For valid JSON it
// passes the same text as a [Scanner]; it also passes invalid JSON.
//
// Cost: each method is linear in the passed text.
type Rough struct {
	Text []byte
	Pos  int
}

// Space passes white space.
func (r *Rough) Space() {
	for r.Pos < len(r.Text) && isSpace(r.Text[r.Pos]) {
		r.Pos++
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// Take passes white space, and b if b follows. It reports whether b followed.
func (r *Rough) Take(b byte) bool {
	r.Space()
	if r.Pos == len(r.Text) || r.Text[r.Pos] != b {
		return false
	}
	r.Pos++
	return true
}

// Value passes white space and a value. It reports whether the value is complete.
func (r *Rough) Value() (ok bool) {
	r.Space()
	r.Pos, ok = endOfValue(r.Text, r.Pos)
	return ok
}

// endOfValue returns the end of the value that begins at start, and whether the value is complete. For an incomplete value it
// returns the place of the fault.
func endOfValue(text []byte, start int) (end int, ok bool) {
	depth := 0
	for i := start; i < len(text); {
		switch text[i] {
		case '"':
			if i, ok = endOfString(text, i); !ok {
				return i, false
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i, i > start
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i, i > start
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i, true
		}
	}
	return len(text), start < len(text) && depth == 0
}

// String passes the string at the position. It reports whether the string is complete.
func (r *Rough) String() (ok bool) {
	r.Pos, ok = endOfString(r.Text, r.Pos)
	return ok
}

// fewBytes is the number of bytes that endOfString examines one by one. That is quicker for a short string than a search for its
// end.
const fewBytes = 64

// endOfString returns the position after the closing quote of the string at i, and whether there is one. Otherwise it returns the
// end of the text.
func endOfString(text []byte, i int) (end int, ok bool) {
	i++
	for few := min(i+fewBytes, len(text)); i < few; i++ {
		switch text[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++ // and the loop passes what is escaped
		}
	}
	for ; i < len(text); i++ {
		end := bytes.IndexByte(text[i:], '"')
		if end < 0 {
			break
		}
		escape := bytes.IndexByte(text[i:i+end], '\\')
		if escape < 0 {
			return i + end + 1, true
		}
		i += escape + 1 // and the loop passes what is escaped
	}
	return len(text), false
}

// Members passes the object at the position. It calls member for each name, with the bounds start and end of its quotes, at the
// position of the value after the colon. member must pass the value. Members reports whether the object is well-formed.
func (r *Rough) Members(member func(start, end int) bool) bool {
	if !r.Take('{') {
		return false
	}
	for first := true; !r.Take('}'); first = false {
		if !first && !r.Take(',') {
			return false
		}
		r.Space()
		start := r.Pos
		if start == len(r.Text) || r.Text[start] != '"' || !r.String() {
			return false
		}
		end := r.Pos
		if !r.Take(':') {
			return false
		}
		if r.Space(); !member(start, end) {
			return false
		}
	}
	return true
}

// Items passes the list at the position. It calls item for each item, and item must pass it. Items reports whether the list is
// well-formed.
func (r *Rough) Items(item func() bool) bool {
	if !r.Take('[') {
		return false
	}
	for first := true; !r.Take(']'); first = false {
		if !first && !r.Take(',') {
			return false
		}
		if r.Space(); !item() {
			return false
		}
	}
	return true
}
