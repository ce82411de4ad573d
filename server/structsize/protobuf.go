package structsize

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// Protobuf returns ErrSize if a value of type t that a message is read into would take too much memory. It costs the length of the message,
// and finds nothing in bytes that are none: whoever reads them does.
func Protobuf(message []byte, t reflect.Type) error {
	if len(message) <= surely {
		return nil
	}
	m := newMeter(message)
	m.message(message, t, 0)
	return m.err()
}

// message counts what a message takes that is read into a value of type t.
func (m *meter) message(b []byte, t reflect.Type, depth int) {
	numbers := shapeOf(t).numbers
	for len(b) > 0 && m.left >= 0 && depth < maxDepth {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(number, wire, b)
		if n < 0 {
			return
		}
		if field := numbers[number]; field != nil && wire == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(b[:n])
			m.field(inner, field, depth)
		}
		b = b[n:]
	}
}

// field counts what one value of a field takes, which is an item of a list if the field has one.
func (m *meter) field(b []byte, t reflect.Type, depth int) {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		t = t.Elem()
		m.left -= itemCost(t)
	case t.Kind() == reflect.Map:
		m.left -= entryCost(t)
		m.entry(b, t.Elem(), depth)
		return
	}
	if t = m.point(t); t.Kind() == reflect.Struct {
		m.message(b, t, depth+1)
	}
}

// entry counts what the value in an entry of a map takes.
func (m *meter) entry(b []byte, value reflect.Type, depth int) {
	const valueNumber = 2
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, wire, b[n:])
		if size < 0 {
			return
		}
		if number == valueNumber && wire == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(b[n : n+size])
			m.field(inner, value, depth+1)
		}
		b = b[n+size:]
	}
}
