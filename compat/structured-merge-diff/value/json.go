package value

import (
	"encoding/json"

	deed "github.com/deed-project/deed/value"
	yaml "go.yaml.in/yaml/v2"
)

// FromJSON returns a view of the JSON value in input. Every number in the value is a float64. White space around the value is
// allowed. Other text after the value is an error.
func FromJSON(input []byte) (Value, error) { return FromJSONFast(input) }

// FromJSONFast does the work of [FromJSON].
func FromJSONFast(input []byte) (Value, error) {
	d := deed.Decoder{Repair: true, Repeats: true}
	v, err := d.Parse(input)
	if err != nil {
		return nil, err
	}
	return NewValueInterface(withFloats(v)), nil
}

// withFloats returns v.ToAny with every number as a float64.
func withFloats(v deed.Value) any {
	switch v.Kind() {
	case deed.KindInt:
		return v.Float()
	case deed.KindList:
		out := make([]any, 0, v.Len())
		for item := range v.Items() {
			out = append(out, withFloats(item))
		}
		return out
	case deed.KindObject:
		out := make(map[string]any, v.Len())
		for name, member := range v.Members() {
			out[name] = withFloats(member)
		}
		return out
	}
	return v.ToAny()
}

// ToJSON returns v as canonical JSON text: the members of maps sorted by name, no white space, and <, > and & escaped.
func ToJSON(v Value) ([]byte, error) {
	if doc, _, err := new(Reader).Read(v); err == nil {
		return doc.AppendJSON(nil), nil
	}
	return json.Marshal(v.Unstructured()) // for values that cannot be documents; its error has the reason
}

// ToYAML returns v as YAML.
func ToYAML(v Value) ([]byte, error) { return yaml.Marshal(v.Unstructured()) }
