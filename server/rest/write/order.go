package write

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// ordered remembers texts of fieldsV1 that are in the order of maps, because objects that are made alike have the same fields, and an
// object has them again at the next write. The zero ordered is empty and ready. It is safe for concurrent use.
type ordered struct {
	texts [64]atomic.Pointer[string] // each in the place that its hash says
}

// maxOrdered is how long a text may be that is remembered, so that all of them are no more than a megabyte.
const maxOrdered = 16 << 10

var orderedSeed = maphash.MakeSeed()

// arrange makes every fieldsV1 of entries a text with its names in bytewise order: as kube-apiserver prints custom resources, which it
// holds as maps. A set has the port 80 before 443, and a map has it behind.
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

// isInOrder reports whether text is objects in objects and nothing else, the names of each in bytewise order. It says no where that takes
// more than a look.
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

// endOfName returns where the quote is that ends a string, and -1 if there is none or the string has other escapes than those of quotes.
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

// isBefore reports whether a name sorts before another. Both are as they are written, see endOfName.
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

// isEscaped reports whether what stands at i is escaped by the backslash in front of it, which then is none that is escaped itself.
func isEscaped(name string, i int) bool {
	escaped := false
	for i--; i >= 0 && name[i] == '\\'; i-- {
		escaped = !escaped
	}
	return escaped
}

// byteAt returns the byte that what stands at i is written for.
func byteAt(name string, i int) byte {
	if name[i] == '\\' {
		i++
	}
	return name[i]
}
