package structsize

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// The same for messages: a field of length 0 takes two bytes of a message, and may make a struct of any size.

// Protobuf returns ErrSize if decoding a message into a value of type t would take too much memory. Its cost is linear in the message. It
// ignores malformed bytes, which the decoder reports.
func Protobuf(message []byte, t reflect.Type) error {
	if len(message) <= surely {
		return nil
	}
	m := newMeter(message)
	m.message(message, t, 0)
	return m.err()
}

// message counts the memory for decoding a message into a value of type t.
//
// Only fields with a length can make the decoder allocate more than their bytes.
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

// field counts the memory of one value of a field. If the field has a list type, the value is an item.
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

// entry counts the memory of the value in a map entry.
//
// A value is a message or a scalar. The key is a string, whose bytes are part of the message.
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
