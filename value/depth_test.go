package value

import (
	"bytes"
	"testing"
)

// TestDepth nests containers as deeply as may be, and one level deeper.
func TestDepth(t *testing.T) {
	for name, wrap := range map[string]func(any) any{
		"lists":   func(in any) any { return []any{in} },
		"objects": func(in any) any { return map[string]any{"a": in} },
	} {
		x := any("x")
		for range MaxDepth {
			x = wrap(x)
		}
		v, err := FromAny(x)
		if err != nil {
			t.Fatalf("%s: FromAny: %.80v", name, err)
		}
		if _, err := (&Decoder{Last: v}).FromAny(x); err != nil {
			t.Errorf("%s: FromAny after the same: %.80v", name, err)
		}
		text := v.AppendJSON(nil)
		if back, err := Parse(text); err != nil || !back.Equal(v) {
			t.Errorf("%s: Parse: %.80v", name, err)
		}
		if _, err := FromAny(wrap(x)); err == nil {
			t.Errorf("%s: FromAny takes one level more", name)
		}
		deeper := bytes.Replace(text, []byte(`"x"`), List(String("x")).AppendJSON(nil), 1)
		if _, err := Parse(deeper); err == nil {
			t.Errorf("%s: Parse takes one level more", name)
		}
	}
}

// TestDepthIsNotWidth reads more containers beside each other than may be in one another.
func TestDepthIsNotWidth(t *testing.T) {
	for name, in := range map[string]any{"lists": []any{}, "lists of something": []any{1}, "objects": map[string]any{}, "objects of something": map[string]any{"a": 1}} {
		list := make([]any, MaxDepth+1)
		for i := range list {
			list[i] = in
		}
		v, err := FromAny(list)
		if err != nil {
			t.Fatalf("%s: FromAny: %.80v", name, err)
		}
		list[0] = "first"
		if _, err := (&Decoder{Last: v}).FromAny(list); err != nil {
			t.Errorf("%s: FromAny after another list: %.80v", name, err)
		}
		if back, err := Parse(v.AppendJSON(nil)); err != nil || !back.Equal(v) {
			t.Errorf("%s: Parse: %.80v", name, err)
		}
	}
}
