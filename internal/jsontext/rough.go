package jsontext

import "bytes"

// Rough finds where JSON values begin and end, without looking at what they are: it is for texts that are parsed as well, before
// or afterwards. Of what is JSON it passes the same as a [Scanner]; it passes much that is none, too.
//
// Cost: each method is linear in what it passes.
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

// Take passes white space, and b if that follows.
func (r *Rough) Take(b byte) bool {
	r.Space()
	if r.Pos == len(r.Text) || r.Text[r.Pos] != b {
		return false
	}
	r.Pos++
	return true
}

// Value passes white space and a value. It reports whether there is one that ends.
func (r *Rough) Value() (ok bool) {
	r.Space()
	r.Pos, ok = endOfValue(r.Text, r.Pos)
	return ok
}

// endOfValue returns where the value that begins at start ends, and whether there is one that does. If not, it is where that shows.
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

// String passes the string at the position. It reports whether it ends.
func (r *Rough) String() (ok bool) {
	r.Pos, ok = endOfString(r.Text, r.Pos)
	return ok
}

// fewBytes is up to how many bytes endOfString looks at one by one, which is quicker for a short string than to search for what ends it.
const fewBytes = 64

// endOfString returns where the string that begins at i ends, behind its quote, and whether it does. If not, it is where the text ends.
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

// Members passes the object at the position. It calls member at each name, whose quotes stand from start to end, with the position
// at the value behind the colon; member must pass that. It reports whether all of that is as it should be.
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

// Items passes the list at the position. It calls item at each item; item must pass that. It reports whether all of that is as it
// should be.
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
