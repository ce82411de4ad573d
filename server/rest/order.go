package rest

import (
	"slices"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// inMapOrder returns entries with every fieldsV1 as text, its names in bytewise order: as kube-apiserver prints custom resources, which
// it holds as maps. A set has the port 80 before 443, and a map has it behind.
//
// The cost is one pass over the texts.
func inMapOrder(entries []managedfields.Entry) ([]managedfields.Entry, error) {
	out := slices.Clone(entries)
	for i, e := range out {
		if e.FieldsV1.IsAbsent() {
			continue
		}
		text := e.FieldsV1.String()
		if !isInOrder(text) {
			document, err := value.Parse([]byte(text))
			if err != nil {
				return nil, err
			}
			text = document.String()
		}
		out[i].FieldsV1 = managedfields.FieldsOf(text)
	}
	return out, nil
}

// isInOrder reports whether text is objects in objects and nothing else, the names of each in bytewise order. It says no where that takes
// more than a look.
func isInOrder(text string) bool {
	var last []string // the last name of each object that is open, as it is written; "" for none
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
	i, j := 0, 0
	for ; i < len(name) && j < len(other); i, j = i+1, j+1 {
		if name[i] == '\\' {
			i++
		}
		if other[j] == '\\' {
			j++
		}
		if name[i] != other[j] {
			return name[i] < other[j]
		}
	}
	return i == len(name) && j < len(other)
}
