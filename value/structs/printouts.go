package structs

import (
	"hash/maphash"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/value"
)

// printouts caches, for one Go type, what its methods printed for recent values. It is for small
// types without references, such as quantities and times. The memory of such a value is its key.
//
// The table has a fixed size, and new printouts replace old ones. It holds only results that an
// earlier document has, because these repeat. If the values of a type have no key, sets is nil.
type printouts struct {
	runs    []run     // of memory that holds scalars
	strings []uintptr // offsets of strings
	zones   []uintptr // offsets of each *time.Location
	absent  []uintptr // offsets of all other references, which must be nil
	sets    []printoutSet
}

// run is a part of a value's memory.
type run struct{ offset, size uintptr }

// printoutSet has the four places for a printout. They are filled in order.
type printoutSet [4]atomic.Pointer[printout]

// printout is the result of a method for values with this key.
type printout struct {
	key   string
	value value.Value
}

const (
	printoutSets = 256
	maxKey       = 80 // in bytes; also the limit for a cached string
)

var (
	zoneType = reflect.TypeFor[*time.Location]()
	local    = time.Local // the location of most times; it lives forever, so its address identifies it
	keySeed  = maphash.MakeSeed()
)

// printoutsOf returns an empty table for values of type t, or no sets if the values have no key.
func printoutsOf(t reflect.Type) (o printouts) {
	if t.Size() > maxKey {
		return o
	}
	o.add(t, 0)
	if len(o.runs)+len(o.strings) > 0 {
		o.sets = make([]printoutSet, printoutSets)
	}
	return o
}

// add adds the memory at offset, of type t, to the key.
func (o *printouts) add(t reflect.Type, offset uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			o.add(f.Type, offset+f.Offset)
		}
	case reflect.Array:
		for i := range t.Len() {
			o.add(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.String:
		o.strings = append(o.strings, offset)
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan,
		reflect.UnsafePointer:
		if t == zoneType {
			o.zones = append(o.zones, offset)
		} else {
			o.absent = append(o.absent, offset)
		}
	default:
		if n := len(o.runs); n > 0 && o.runs[n-1].offset+o.runs[n-1].size == offset {
			o.runs[n-1].size += t.Size()
		} else {
			o.runs = append(o.runs, run{offset, t.Size()})
		}
	}
}

// appendKey appends the key of the value at m, and reports whether there is one.
func (o *printouts) appendKey(key []byte, m memory) ([]byte, bool) {
	for _, offset := range o.absent {
		if !m.after(offset).isNil() {
			return nil, false
		}
	}
	for _, offset := range o.zones {
		switch read[*time.Location](m.after(offset)) {
		case nil:
			key = append(key, 0)
		case local:
			key = append(key, 1)
		default:
			return nil, false
		}
	}
	for _, r := range o.runs {
		key = append(key, m.after(r.offset).bytes(r.size)...)
	}
	for _, offset := range o.strings {
		s := read[string](m.after(offset))
		if len(s) > maxKey {
			return nil, false
		}
		key = append(append(key, byte(len(s))), s...)
	}
	return key, len(key) <= maxKey
}

// again returns the cached result for the value at m, or the result of print, which calls the
// method of the value. It caches a scalar result if it equals former, the value in the same place
// of the earlier document.
func (o *printouts) again(m memory, former value.Value, print func() (value.Value, *fault)) (value.Value, *fault) {
	var buf [maxKey]byte
	key, ok := o.appendKey(buf[:0], m)
	if !ok {
		return print()
	}
	hash := maphash.Bytes(keySeed, key)
	set := &o.sets[hash%printoutSets]
	place := &set[hash>>32%uint64(len(set))]
	for i := range set {
		known := set[i].Load()
		if known == nil {
			place = &set[i]
			break
		}
		if known.key == string(key) {
			return known.value, nil
		}
	}
	v, err := print()
	if err != nil || v.Kind() == value.KindList || v.Kind() == value.KindObject || !values.Exactly(v, former) {
		return v, err
	}
	if v.Kind() == value.KindString {
		if len(v.Str()) > maxKey {
			return v, nil
		}
		v = value.String(strings.Clone(v.Str())) // the string may be part of a larger text
	}
	place.Store(&printout{string(key), v})
	return v, nil
}
