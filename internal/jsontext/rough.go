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
func (r *Rough) Value() bool {
	r.Space()
	start, depth := r.Pos, 0
	for r.Pos < len(r.Text) {
		switch b := r.Text[r.Pos]; b {
		case '"':
			if !r.String() {
				return false
			}
		case '{', '[':
			depth++
			r.Pos++
		case '}', ']':
			if depth == 0 {
				return r.Pos > start
			}
			depth--
			r.Pos++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return r.Pos > start
			}
			r.Pos++
			continue
		default:
			r.Pos++
			continue
		}
		if depth == 0 {
			return true
		}
	}
	return r.Pos > start && depth == 0
}

// String passes the string at the position. It reports whether it ends.
func (r *Rough) String() bool {
	for r.Pos++; r.Pos < len(r.Text); r.Pos++ {
		end := bytes.IndexByte(r.Text[r.Pos:], '"')
		if end < 0 {
			break
		}
		escape := bytes.IndexByte(r.Text[r.Pos:r.Pos+end], '\\')
		if escape < 0 {
			r.Pos += end + 1
			return true
		}
		r.Pos += escape + 1 // and the loop passes what is escaped
	}
	r.Pos = len(r.Text)
	return false
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
