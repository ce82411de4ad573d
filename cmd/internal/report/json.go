package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes v indented as kubectl does. Errors of writing show when out is flushed.
func WriteJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(v)
}

// jsonList writes a list whose items are known one after the other, as [WriteJSON] would write all
// of it.
type jsonList struct {
	out    *bufio.Writer
	indent string // of the line that the list begins in
	count  int
	err    error // the first
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
