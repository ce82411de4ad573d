package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes v with the indentation of kubectl. Flushing out returns errors of writing.
func WriteJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(v)
}

// jsonList writes a list one item at a time, with the output of [WriteJSON] for the whole list.
type jsonList struct {
	out    *bufio.Writer
	indent string // the indentation of the line in which the list begins
	count  int
	err    error // the first error
}

// add writes an item.
func (l *jsonList) add(v any) {
	l.out.WriteString(map[bool]string{true: "[", false: ","}[l.count == 0])
	l.count++
	indent := l.indent + "    "
	l.out.WriteString("\n" + indent)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, "    ")
	if err := e.Encode(v); err != nil && l.err == nil {
		l.err = err
	}
	l.out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// end ends the list.
func (l *jsonList) end() {
	if l.count == 0 {
		l.out.WriteString("[]")
	} else {
		l.out.WriteString("\n" + l.indent + "]")
	}
}
