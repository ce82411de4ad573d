package fieldpath

// Reading keys and items as [Set.AppendJSON] writes most of them: strings of simple characters,
// integers, booleans, key fields in order. Nothing in them has two spellings. They stand within a
// JSON string or by themselves, which the spelling of quotes tells: `\"` or `"`.
//
// Why not take the JSON string apart first, and read its content by the full grammar: set-parse and
// decode-cold in docs/benchmarks.md then take 1.4 to 2 times as long.

// plainKey appends the encoding of the key that the object at the position is. If it returns false,
// the position and b are anywhere.
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

// plainScalar appends the encoding of the scalar at the position, as plainKey does for a key.
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
	return appendInt(b, i), ok && !(negative && i == 0) // -0 is a spelling of 0
}
