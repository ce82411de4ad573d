package value_test

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestOther reads maps as decoders of YAML make them, and notes that there are integers of other types.
func TestOther(t *testing.T) {
	odd := 0
	var d value.Decoder
	d.Other = func(v any) (value.Value, error) {
		odd++
		switch v := v.(type) {
		case map[any]any:
			return value.Object(value.Member{Name: "name", Value: value.String(v["name"].(string))}), nil
		case int:
			return value.Int(int64(v)), nil
		case value.Value:
			return value.Value{}, nil
		}
		return value.Value{}, errOdd
	}
	in := map[string]any{"a": []any{int64(1), 2.5, true, nil, "x"}, "b": map[any]any{"name": "web"}, "c": 3, "d": value.Int(7)}
	got, err := d.FromAny(in)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.String(); text != `{"a":[1,2.5,true,null,"x"],"b":{"name":"web"},"c":3,"d":null}` || odd != 3 {
		t.Errorf("%s, with %d values of other types", text, odd)
	}
	_, err = d.FromAny(map[string]any{"a": []any{[]string{"x"}}})
	var at *value.ConversionError
	if !errors.As(err, &at) || at.Path != ".a[0]" || !errors.Is(err, errOdd) {
		t.Errorf("the error is %v", err)
	}
	if again, err := d.FromAny(in); err != nil || !again.Get("a").Same(got.Get("a")) {
		t.Errorf("after an error it is %v, %v", again, err)
	}
}

var errOdd = errors.New("it is odd")
