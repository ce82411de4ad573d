package structs

import (
	"encoding/json"
	"testing"
)

func BenchmarkFrom(b *testing.B) {
	text := podText(b)
	var p pod
	if err := json.Unmarshal(text, &p); err != nil {
		b.Fatal(err)
	}
	rivals(b, len(text), func() error {
		_, err := From(&p)
		return err
	}, func() error {
		printed, err := json.Marshal(&p)
		if err != nil {
			return err
		}
		var v any
		return json.Unmarshal(printed, &v)
	})
}

// BenchmarkDecode converts the same struct again.
func BenchmarkDecode(b *testing.B) {
	var p pod
	if err := json.Unmarshal(podText(b), &p); err != nil {
		b.Fatal(err)
	}
	like, err := From(&p)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeAfter(&p, like); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInto(b *testing.B) {
	text := podText(b)
	v := mustParse(b, text)
	rivals(b, len(text), func() error {
		var p pod
		return Into(v, &p)
	}, func() error {
		var p pod
		return json.Unmarshal(text, &p)
	})
}
