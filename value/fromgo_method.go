package value

import (
	"encoding"
	"encoding/json"
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// printed converts v, which is no nil pointer, or what v points to, by the method m that v has. The error speaks of the type that p
// is for.
func (c *converter) printed(p *plan, m method, v any, like Value) (Value, *ConversionError) {
	switch m {
	case toUnstructuredErr:
		out, err := v.(unstructuredErr).ToUnstructuredWithError()
		if err != nil {
			return Value{}, failure("ToUnstructuredWithError", p.typ, err)
		}
		return c.value(out, like)
	case toUnstructured:
		return c.value(v.(unstructured).ToUnstructured(), like)
	case marshalText:
		text, err := v.(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return Value{}, failure("MarshalText", p.typ, err)
		}
		return stringLike(textOf(text), like), nil
	}
	text, err := v.(json.Marshaler).MarshalJSON()
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	if out, ok := parseScalar(text, like); ok {
		return out, nil
	}
	out, err := Parse(text)
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	return out, nil
}

// stringLike returns text as a string, which is like if that is the same.
func stringLike(text string, like Value) Value {
	if like.Kind() == KindString && like.str() == text {
		return like
	}
	return String(strings.Clone(text))
}

// parseScalar parses text that is a string without escapes, or a short integer, and nothing else: most methods print such.
// It takes no parser, which costs more than such text.
func parseScalar(text []byte, like Value) (Value, bool) {
	s := jsontext.Scanner{Text: textOf(text)}
	if s.Peek() == '"' {
		str, ok := s.PlainString()
		return stringLike(str, like), ok && s.Pos == len(text)
	}
	i, ok := s.Integer()
	return Int(i), ok && s.Pos == len(text)
}

// fromNumber converts a json.Number, which is 0 when empty.
func fromNumber(text string) (Value, *ConversionError) {
	if text == "" {
		return Int(0), nil
	}
	p := parser{Scanner: jsontext.Scanner{Text: text}}
	if v, err := p.number(); err == nil && p.Pos == len(text) {
		return v, nil
	}
	return Value{}, inexpressible("%q is no JSON number", text)
}
