// Package structsize bounds the memory of the Go structs that a request is read into. Bodies can be much smaller than what they say: {} in
// a list is three bytes with its comma, and a container takes 400; in protocol buffers it may have two.
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

// ErrSize is the error of a body that would be read into too large structs.
var ErrSize = errors.New("the fields of all objects together would take more than 8 MiB and 32 times the bytes of the request")

const (
	// free and perByte bound what structs may take: what is constant, and for each byte of the body.
	free    = 8 << 20
	perByte = 32
	// surely is a length up to which no body has structs beyond free.
	surely = 8 << 10
	// growth is how many bytes are allocated for each that a list or map has in the end, while it grows.
	growth = 2
	// perEntry is what an entry of a map takes beside its key and what it has for it.
	perEntry = 16
	// maxDepth is up to which depth the decoders read.
	maxDepth = 10000
)

// meter counts down what may be allocated yet.
type meter struct{ left int64 }

func newMeter(body []byte) *meter { return &meter{free + perByte*int64(len(body))} }

func (m *meter) err() error {
	if m.left < 0 {
		return ErrSize
	}
	return nil
}

// itemCost is what an item of a list takes.
func itemCost(item reflect.Type) int64 { return growth * int64(item.Size()) }

// entryCost is what an entry of a map takes.
func entryCost(m reflect.Type) int64 {
	return growth * (int64(m.Key().Size()) + int64(m.Elem().Size()) + perEntry)
}

// point counts what a value of type t points to, and returns its type.
func (m *meter) point(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
		m.left -= int64(t.Size())
	}
	return t
}

// shape is what is known of a type.
type shape struct {
	members map[string]reflect.Type           // of a struct, by the names in JSON
	numbers map[protowire.Number]reflect.Type // the same by the numbers in protobuf
	// reads tells that values of the type read JSON themselves: an object into what object is, a list into items of what list is.
	reads        bool
	object, list reflect.Type
}

var shapes sync.Map // from reflect.Type to *shape

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

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
