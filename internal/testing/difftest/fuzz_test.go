package difftest

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
)

// FuzzHistory checks that both engines give the same answers in histories that the fuzzer's bytes choose.
func FuzzHistory(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 0, 2, 1, 95, 40, 3, 55, 12, 2, 90, 7, 31, 99, 4, 61, 17, 1, 250, 33, 8})
	for seed := range uint64(8) {
		c := gen.Seeded(seed)
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(c.N(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := gen.FromBytes(data)
		s := gen.NewSchema(c)
		w, err := newWorld(s)
		if err != nil {
			t.Fatalf("%v\n%s", err, s.Document.Value())
		}
		var seen tally
		if h := w.random(c, &seen); h != nil {
			h = shrink(h)
			d, _ := difference(h)
			script, _ := record(t, d, h)
			t.Fatal(script)
		}
	})
}
