package structs

import (
	"hash/maphash"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/value"
)

// printouts remembers, for one Go type, how its methods printed values that were met lately. It is
// for small types that have no references, such as quantities and times: such a value is what its
// memory says, its key.
//
// It is a table of fixed size, in which new printouts take the place of others. Only what comes
// again is put there, which is what an earlier document has already. The zero printouts is for a
// type whose values have no key.
type printouts struct {
	runs    []run     // of memory that holds scalars
	strings []uintptr // the offsets of strings,
	zones   []uintptr // of *time.Location,
	absent  []uintptr // and of all other references, which must be nil
	sets    []printoutSet
}

// run is a part of a value's memory.
type run struct{ offset, size uintptr }

// printoutSet has the places that a printout may take, filled from the first.
type printoutSet [4]atomic.Pointer[printout]

// printout is what a value with this key prints.
type printout struct {
	key   string
	value value.Value
}

const (
	printoutSets = 256
	maxKey       = 80 // in bytes; no longer text is remembered either
)

var (
	zoneType = reflect.TypeFor[*time.Location]()
	local    = time.Local // as most times have it; it lives forever, so its address tells it from others
	keySeed  = maphash.MakeSeed()
)

// printoutsOf returns an empty table for values of type t.
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

// add adds to the key what lies at an offset and is of type t.
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

// again returns what print returns, which prints the value at m by its method, or what it returned
// before for the same value. Scalars are remembered if they are what an earlier document, former,
// has.
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
		v = value.String(strings.Clone(v.Str())) // it may be a part of a larger text
	}
	place.Store(&printout{string(key), v})
	return v, nil
}
