package write

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// ordered is a cache of fieldsV1 texts whose names are in order. Objects that are made alike have the same texts, and an object has its texts
// again at the next write. The zero value is an empty cache. It is safe for concurrent use.
type ordered struct {
	texts [64]atomic.Pointer[string] // each at the index that its hash gives
}

// maxOrdered is the length of the longest text that is cached, so that the cache takes a megabyte at most.
const maxOrdered = 16 << 10

var orderedSeed = maphash.MakeSeed()

// arrange puts the names in every fieldsV1 of entries into bytewise order. kube-apiserver holds custom resources as maps, and prints maps in
// this order: the port 443 comes before 80, which is not the order of sets.
//
// The cost is one pass over the texts.
func (o *ordered) arrange(entries []managedfields.Entry) error {
	for i, e := range entries {
		if e.FieldsV1.IsAbsent() {
			continue
		}
		text, err := o.text(e.FieldsV1.String())
		if err != nil {
			return err
		}
		entries[i].FieldsV1 = managedfields.FieldsOf(text)
	}
	return nil
}

// text returns a text of fieldsV1 with its names in order.
func (o *ordered) text(text string) (string, error) {
	known := &o.texts[maphash.String(orderedSeed, text)%uint64(len(o.texts))]
	if found := known.Load(); found != nil && *found == text {
		return *found, nil
	}
	if !isInOrder(text) {
		document, err := value.Parse([]byte(text))
		return document.String(), err
	}
	if len(text) <= maxOrdered {
		known.Store(new(text))
	}
	return text, nil
}

// isInOrder reports whether a text consists of nested objects only, and the names of each object are in bytewise order. It may return false
// for a text that is in order, where a simple scan cannot tell.
func isInOrder(text string) bool {
	last := make([]string, 0, 16) // the last name of each object that is open, as it is written; "" for none
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			last = append(last, "")
		case '}':
			if len(last) == 0 {
				return false
			}
			last = last[:len(last)-1]
		case ':', ',':
		case '"':
			end := endOfName(text, i+1)
			if end < 0 || len(last) == 0 {
				return false
			}
			name := text[i+1 : end]
			if before := last[len(last)-1]; before != "" && !isBefore(before, name) {
				return false
			}
			last[len(last)-1] = name
			i = end
		default:
			return false
		}
	}
	return len(last) == 0
}

// endOfName returns the index of the quote that ends a string. It is -1 if there is none, or if the string has escapes other than \" and \\.
func endOfName(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			if i++; i == len(text) || text[i] != '"' && text[i] != '\\' {
				return -1
			}
		}
	}
	return -1
}

// isBefore reports whether a name sorts before another. Both are written with escapes, see endOfName.
func isBefore(name, other string) bool {
	i := 0
	for i < len(name) && i < len(other) && name[i] == other[i] {
		i++
	}
	if i == len(name) || i == len(other) {
		return i < len(other)
	}
	if isEscaped(name, i) {
		return name[i] < other[i]
	}
	return byteAt(name, i) < byteAt(other, i)
}

// isEscaped reports whether the byte at i is escaped: an odd number of backslashes stands before it.
func isEscaped(name string, i int) bool {
	escaped := false
	for i--; i >= 0 && name[i] == '\\'; i-- {
		escaped = !escaped
	}
	return escaped
}

// byteAt returns the byte that the text at i stands for.
func byteAt(name string, i int) byte {
	if name[i] == '\\' {
		i++
	}
	return name[i]
}
