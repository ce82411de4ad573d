package structs

import (
	"encoding"
	"encoding/json"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// printed converts v, or the target of v, by the method m of v. v is no nil pointer. The error names
// the type of p.
func (c *converter) printed(p *plan, m method, v any, former value.Value) (value.Value, *fault) {
	switch m {
	case toUnstructuredErr:
		out, err := v.(unstructuredErr).ToUnstructuredWithError()
		if err != nil {
			return value.Value{}, failure("ToUnstructuredWithError", p.typ, err)
		}
		return c.value(out, former)
	case toUnstructured:
		return c.value(v.(unstructured).ToUnstructured(), former)
	case marshalText:
		text, err := v.(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return value.Value{}, failure("MarshalText", p.typ, err)
		}
		return stringAfter(jsontext.Lend(text), former), nil
	}
	text, err := v.(json.Marshaler).MarshalJSON()
	if err != nil {
		return value.Value{}, failure("MarshalJSON", p.typ, err)
	}
	if out, ok := parseScalar(text, former); ok {
		return out, nil
	}
	out, err := value.Parse(text)
	if err != nil {
		return value.Value{}, failure("MarshalJSON", p.typ, err)
	}
	return out, nil
}

// stringAfter returns former if it is the string text, or else a copy of text as a string.
func stringAfter(text string, former value.Value) value.Value {
	if former.Kind() == value.KindString && former.Str() == text {
		return former
	}
	return value.String(strings.Clone(text))
}

// parseScalar parses text if it is only a string without escapes or a short integer. Most methods
// print such text, and a parser would cost more than the text.
func parseScalar(text []byte, former value.Value) (value.Value, bool) {
	s := jsontext.Scanner{Text: jsontext.Lend(text)}
	if s.Peek() == '"' {
		str, ok := s.PlainString()
		return stringAfter(str, former), ok && s.Pos == len(text)
	}
	i, ok := s.Integer()
	return value.Int(i), ok && s.Pos == len(text)
}

// fromNumber converts a json.Number. An empty one is 0.
func fromNumber(text string) (value.Value, *fault) {
	if text == "" {
		return value.Int(0), nil
	}
	s := jsontext.Scanner{Text: text}
	i, f, integer, err := s.Number()
	switch {
	case err != nil || s.Pos < len(text):
		return value.Value{}, inexpressible("%q is no JSON number", text)
	case integer:
		return value.Int(i), nil
	}
	return value.Float(f), nil
}
