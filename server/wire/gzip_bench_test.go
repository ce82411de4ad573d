package wire

import (
	standard "compress/gzip"
	"fmt"
	"testing"
)

// BenchmarkGzip compresses a list of 500 objects with the library in use and with the standard library at the same level. It reports the
// size of the result.
func BenchmarkGzip(b *testing.B) {
	var text []byte
	for i := range 500 {
		text = fmt.Appendf(text, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"creationTimestamp":"2026-11-02T09:30:00Z",`+
			`"generation":%d,"name":"widget-%05d","namespace":"default","resourceVersion":"%d","uid":"0f36e6a1-%04x-4b1e-9c0e-5d8f%08x"},`+
			`"spec":{"color":"red","replicas":%d}},`, i%7, i*31, 1000+i, i*2654435761>>16&0xffff, i*40503, i%10)
	}
	b.Run("used", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		length := 0
		for b.Loop() {
			length = len(Gzip(text))
		}
		b.ReportMetric(float64(length), "B")
	})
	b.Run("standard", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var out memory
		z, err := standard.NewWriterLevel(&out, standard.BestSpeed)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			out = out[:0]
			z.Reset(&out)
			if _, err := z.Write(text); err != nil {
				b.Fatal(err)
			}
			if err := z.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(out)), "B")
	})
}
