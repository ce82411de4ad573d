package report

import (
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

// OrEmpty returns s, as a slice that JSON prints as a list even when it is empty.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
