package fieldpath

import "testing"

func TestParseSet(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"f:a":{}}`,
		`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`,
		`{"f:a":{"v:\"x\"":{},"v:1":{},"v:[1,{\"a\":null}]":{},"i:3":{}}}`,
	} {
		s, canonical, err := ParseCanonical([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := string(s.AppendJSON(nil)); (got == text) != canonical {
			t.Errorf("%s: printed as %s, canonical %v", text, got, canonical)
		}
	}
}
