package managedfields

import (
	"sync/atomic"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Reading the objects of one write or of one watch, which are mostly the same. Two things are
// shared: storage, as by a value.Decoder, and the object that a field manager checked against the
// type:
//
//	live      read
//	object    read after live           shares equal parts
//	Update    checks object             skips the parts shared with a checked live

// Decoder reads related objects, such as a stored object and its replacement, or the states of one
// object over time. Each object shares its unchanged parts with the object before, as with a
// [value.Decoder]. If a [FieldManager] has checked these parts against the type of the kind, it
// does not check them again.
//
// A Decoder returns the same objects as [ParseObject], [ObjectFromAny] and so on. The zero Decoder
// is ready, and the nil Decoder shares nothing. Two goroutines must not use a Decoder at once; its
// objects are safe for concurrent use. It keeps the last object, and the last result of a field
// manager for its objects.
type Decoder struct {
	values value.Decoder
	memory *memory
	made   *typed.Value // the value in memory when the last object was read
}

// Parse is [ParseObject] for the next object. The Decoder keeps json, which must not change until
// the next object has been read.
func (d *Decoder) Parse(json []byte) (Object, error) {
	if d == nil {
		return ParseObject(json)
	}
	d.values.Repair, d.values.Text = true, fieldsPath
	documents.SetKnown(&d.values, knownText)
	v, err := d.values.Parse(json)
	if err != nil {
		return Object{}, err
	}
	o, err := objectOfText(v)
	return d.belongs(o), err
}

// FromAny is [ObjectFromAny] for the next object.
func (d *Decoder) FromAny(content map[string]any) (Object, error) {
	if d == nil {
		return ObjectFromAny(content)
	}
	d.values.Except = entriesPath
	d.Last()
	v, err := d.values.FromAny(content)
	if err != nil {
		return Object{}, err
	}
	o, err := objectOfMap(content, v)
	return d.belongs(o), err
}

// Last returns the document that the next object is expected to resemble, for callers that read
// objects in another way, as from a Go struct. It is the document that was read last. If a field
// manager has written one of the objects since, it is the result. It is absent before the first
// object.
func (d *Decoder) Last() value.Value {
	if d == nil {
		return value.Value{}
	}
	if made := d.memory.get(); made != d.made {
		d.made, d.values.Last = made, made.Content()
	}
	return d.values.Last
}

// Next makes o, which was read in another way, the decoder's last object, and returns it.
func (d *Decoder) Next(o Object) Object {
	if d == nil {
		return o
	}
	d.values.Last = o.Content
	return d.belongs(o)
}

// belongs returns o, the object read last, with the decoder's memory.
func (d *Decoder) belongs(o Object) Object {
	if d.memory == nil {
		d.memory = new(memory)
	}
	d.made = d.memory.get()
	o.memory = d.memory
	return o
}

// memory holds the object that a field manager last checked against the type of a kind. It is
// shared by all objects that descend from each other: the objects of one [Decoder], and the results
// of field managers for these objects. It is a hint, and safe for concurrent use.
type memory struct{ last atomic.Pointer[typed.Value] }

// get returns the object in m, and nil if there is none. A nil memory holds none.
func (m *memory) get() *typed.Value {
	if m == nil {
		return nil
	}
	return m.last.Load()
}
