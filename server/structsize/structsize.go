// Package structsize bounds the memory of the Go structs that a request decodes into. A small body can decode into large structs: in a
// list, {} with its comma is three bytes, and a container takes 400. In protobuf an empty item can be two bytes.
package structsize

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// The bound itself: a body may take a constant, and a multiple of its length. A body that takes more is refused before it is decoded.

// ErrSize is the error of a body that would decode into too much memory.
var ErrSize = errors.New("the fields of all objects together would take more than 8 MiB and 32 times the bytes of the request")

const (
	// free and perByte bound the memory of structs: a constant, and a factor per byte of the body.
	free    = 8 << 20
	perByte = 32
	// surely is a length of bodies whose structs cannot exceed free.
	surely = 8 << 10
	// growth is the number of allocated bytes per final byte of a list or map, because it grows in steps.
	growth = 2
	// perEntry is the memory of a map entry beside its key and value.
	perEntry = 16
	// maxDepth is the depth that the decoders accept.
	maxDepth = 10000
)

// meter counts down the bytes that may still be allocated.
type meter struct{ left int64 }

// newMeter returns the meter of a body.
func newMeter(body []byte) *meter { return &meter{free + perByte*int64(len(body))} }

// err returns ErrSize if more was counted than a body may take.
func (m *meter) err() error {
	if m.left < 0 {
		return ErrSize
	}
	return nil
}

// itemCost returns the memory of a list item.
func itemCost(item reflect.Type) int64 { return growth * int64(item.Size()) }

// entryCost returns the memory of a map entry.
func entryCost(m reflect.Type) int64 {
	return growth * (int64(m.Key().Size()) + int64(m.Elem().Size()) + perEntry)
}

// point counts the memory behind a pointer of type t, and returns the type that it points to.
//
// A nil type stays nil: what is skipped takes nothing.
func (m *meter) point(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
		m.left -= int64(t.Size())
	}
	return t
}

// shape holds the decoding types of a Go type.
//
// It is immutable, and cached for each type of the process.
type shape struct {
	members map[string]reflect.Type           // of a struct, by JSON name
	numbers map[protowire.Number]reflect.Type // of a struct, by protobuf field number
	// reads tells that the type decodes JSON itself: an object into the type object, and a list into items of the type list.
	reads        bool
	object, list reflect.Type
}

var shapes sync.Map // from reflect.Type to *shape

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// shapeOf returns the shape of a type. Several goroutines may make it at the same time, with the same outcome.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{reads: reflect.PointerTo(t).Implements(unmarshaler)}
	if t.Kind() == reflect.Struct {
		s.members, s.numbers = map[string]reflect.Type{}, map[protowire.Number]reflect.Type{}
		s.add(t)
	}
	shapes.Store(t, s)
	return s
}

// add adds the fields of a struct.
//
// An embedded struct without a name has its fields in the struct around it, as in encoding/json.
func (s *shape) add(t reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			s.add(f.Type)
			continue
		}
		switch {
		case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct && s.object == nil:
			s.object = f.Type.Elem()
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct && s.list == nil:
			s.list = f.Type.Elem()
		}
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && name != "-" {
			s.members[name] = f.Type
		}
		if _, tag, ok := strings.Cut(f.Tag.Get("protobuf"), ","); ok {
			number, _, _ := strings.Cut(tag, ",")
			if n, err := strconv.Atoi(number); err == nil {
				s.numbers[protowire.Number(n)] = f.Type
			}
		}
	}
}
