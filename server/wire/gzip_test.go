package wire

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestParts builds members from random parts, each of which occurs in several members. It reads them with the standard library, which
// checks their lengths and checksums.
func TestParts(t *testing.T) {
	random := seeds.Rand(t)
	type made struct {
		Part
		text []byte
	}
	var parts []made
	for _, length := range []int{0, 1, 2, 3, 255, 256, 4096, 65535, 65536, 100_000, 1 << 20} {
		text := make([]byte, length)
		for i := range text {
			text[i] = "some text "[random.IntN(1+i%10)]
		}
		parts = append(parts, made{Deflate(text), text})
	}
	for range 200 {
		m := member{text: []byte(memberBegin)}
		var want []byte
		for range random.IntN(8) {
			p := parts[random.IntN(len(parts))]
			m.add(p.Part)
			want = append(want, p.text...)
		}
		m.end()
		z, err := gzip.NewReader(bytes.NewReader(m.text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
		}
	}
}

func TestTakesWeighedGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "*": false, "deflate, gzip;q=1.0": true, " gzip ;q=0.5": true, "gzip;q=0": false, "gzip;q=x": false,
		"gzip;q=0;a=b": true, "gzip,gzip;q=0": false, "gzip;q=-1": false,
	} {
		r := httptest.NewRequest("GET", "/openapi/v2", nil)
		r.Header.Set("Accept-Encoding", header)
		if got := TakesWeighedGzip(r); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
