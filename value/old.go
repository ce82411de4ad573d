package value

// FromAnyLike is [Decoder.FromAny] after like.
//
// Deprecated: use a [Decoder].
func FromAnyLike(v any, like Value) (Value, error) { return FromAnyExcept(v, like) }

// FromAnyExcept is FromAnyLike with [Decoder.Except].
//
// Deprecated: use a [Decoder].
func FromAnyExcept(v any, like Value, path ...string) (Value, error) {
	d := Decoder{Last: like, Except: path}
	return d.FromAny(v)
}

// ParseKeeping is [Decoder.Parse] with [Decoder.Text].
//
// Deprecated: use a [Decoder].
func ParseKeeping(text []byte, path ...string) (Value, error) {
	d := Decoder{Text: path}
	return d.Parse(text)
}

// ParsePair reads two texts by one [Decoder].
//
// Deprecated: use a [Decoder].
func ParsePair(firstText, secondText []byte, path ...string) (first, second Value, err error) {
	d := Decoder{Text: path}
	if first, err = d.Parse(firstText); err != nil {
		return Value{}, Value{}, err
	}
	second, err = d.Parse(secondText)
	return first, second, err
}
