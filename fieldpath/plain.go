package fieldpath

// This file reads keys and items as [Set.AppendJSON] writes most of them: strings of simple
// characters, integers, booleans, sorted key fields. Nothing in them has two spellings. Inside a
// JSON string their quotes are written `\"`, and otherwise `"`.
//
// It does not unquote the JSON string first and read its content by the full grammar. The
// benchmarks set-parse and decode-cold in docs/benchmarks.md would then take 1.4 to 2 times as
// long.

// plainKey appends the encoding of the key that is written as the object at the position. If it
// returns false, the position and b are undefined.
func (s *scanner) plainKey(b []byte, quote string) ([]byte, bool) {
	if !s.Pass("{") {
		return b, false
	}
	for last := ""; ; {
		name, ok := s.SimpleString(quote)
		if !ok || name <= last || !s.Pass(":") {
			return b, false
		}
		last = name
		if b, ok = s.plainScalar(appendPlain(b, name), quote); !ok {
			return b, false
		}
		if !s.Pass(",") {
			return b, s.Pass("}")
		}
	}
}

// plainScalar is plainKey for the scalar at the position.
func (s *scanner) plainScalar(b []byte, quote string) ([]byte, bool) {
	switch s.Peek() {
	case quote[0]:
		text, ok := s.SimpleString(quote)
		return appendPlain(append(b, tagString), text), ok
	case 't':
		return appendBool(b, true), s.Pass("true")
	case 'f':
		return appendBool(b, false), s.Pass("false")
	}
	negative := s.Peek() == '-'
	i, ok := s.Integer()
	return appendInt(b, i), ok && !(negative && i == 0) // -0 is another spelling of 0
}
