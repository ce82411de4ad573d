package managedfields

import (
	"sync/atomic"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Reading the objects of one write, or of one watch, which are mostly the same. Two things are
// shared: storage, as by a value.Decoder, and what a field manager found to conform to the type:
//
//	live      read
//	object    read after live           shares what is the same
//	Update    checks object             what it shares with live conforms, if that is known

// Decoder reads objects that belong together, such as a stored object and the one that replaces it,
// or the states of one object over time. Each shares with the one before what is the same, as with
// a [value.Decoder]; and what a [FieldManager] finds to conform to the type of the kind is not
// checked again in the next object, as far as that shares it.
//
// What is read is the same as without a Decoder: by [ParseObject], [ObjectFromAny] and so on. The
// zero Decoder is ready, and the nil Decoder remembers nothing. A Decoder must not be used by two goroutines at once; what it returns may be. It
// keeps the last object, and what a field manager last made of one of its objects.
type Decoder struct {
	values value.Decoder
	memory *memory
	made   *typed.Value // of memory, when the last object was read
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

// Last returns what the next object is expected to resemble: the document that was read last or, if
// a field manager has written one of the objects since, what it made of it. It is absent before the
// first. It serves to read an object in another way, as from a Go struct.
func (d *Decoder) Last() value.Value {
	if d == nil {
		return value.Value{}
	}
	if made := d.memory.get(); made != d.made {
		d.made, d.values.Last = made, made.Content()
	}
	return d.values.Last
}

// Next returns o, which was read in another way, as the decoder's next object.
func (d *Decoder) Next(o Object) Object {
	if d == nil {
		return o
	}
	d.values.Last = o.Content
	return d.belongs(o)
}

// belongs returns o, the object read last, as one of the decoder's objects.
func (d *Decoder) belongs(o Object) Object {
	if d.memory == nil {
		d.memory = new(memory)
	}
	d.made = d.memory.get()
	o.memory = d.memory
	return o
}

// memory is what a field manager last found to conform to the type of a kind, for all objects that
// descend from each other: those of one [Decoder], or what a field manager made out of what it made
// before. It is a hint, and shared by whoever holds one of the objects.
type memory struct{ last atomic.Pointer[typed.Value] }

// get returns what is remembered, and nil if nothing is. nil remembers nothing.
func (m *memory) get() *typed.Value {
	if m == nil {
		return nil
	}
	return m.last.Load()
}
