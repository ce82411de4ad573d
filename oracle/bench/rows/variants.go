package rows

// variants makes variants of a request's objects, each for one run.
type variants[T any] struct {
	request
	vary   func(text []byte, serial int) []byte
	decode func(text []byte) (T, error) // into the form in which workers take objects
	serial int
	ready  []variant[T]
}

type variant[T any] struct{ live, sent T }

// prepare makes n variants.
func (v *variants[T]) prepare(n int) (err error) {
	v.ready = v.ready[:0]
	for range n {
		v.serial++
		var one variant[T]
		if one.live, err = v.decode(v.vary(v.live, v.serial)); err != nil {
			return err
		}
		if one.sent, err = v.decode(v.vary(v.sent, v.serial)); err != nil {
			return err
		}
		v.ready = append(v.ready, one)
	}
	v.ready = append(v.ready, variant[T]{}) // in front of which next begins
	return nil
}

// next moves to the next variant and returns it.
func (v *variants[T]) next() variant[T] {
	last := len(v.ready) - 1
	v.ready[last] = variant[T]{}
	v.ready = v.ready[:last]
	return v.current()
}

func (v *variants[T]) current() variant[T] { return v.ready[len(v.ready)-1] }

// asText leaves an object as text.
func asText(text []byte) ([]byte, error) { return text, nil }
