package structs

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// seeded runs a property n times, each with the source of another seed.
func seeded(t *testing.T, n int, property func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range seeds.Each(t, n) {
		property(t, seeds.Stream(seed, 0))
	}
}

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

func podText(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("../testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func mustParse(tb testing.TB, text []byte) value.Value {
	tb.Helper()
	v, err := value.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// decodeAfter converts x by a Decoder that has was behind it.
func decodeAfter(x any, was value.Value) (value.Value, error) {
	return Decode(&value.Decoder{Last: was}, x)
}

// randomInt is small, near a power of two, or anything.
func randomInt(r *rand.Rand) int64 {
	switch r.IntN(3) {
	case 0:
		return r.Int64N(41) - 20
	case 1:
		return pick(r, int64(1), -1)<<r.IntN(64) + r.Int64N(5) - 2
	}
	return int64(r.Uint64())
}

// randomString is short, with what needs care in JSON.
func randomString(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(pick(r, 3, 12, 40)) {
		b.WriteString(pick(r, "a", "b", "name", "<", "&", "\"", "\\", "\n", "\x00", "é", "😀", "\u2028", "\ufffd", "eightby."))
	}
	return b.String()
}

// checkConversionError compares an error with what is wanted; where nesting is the reason, the path
// is too long to write.
func checkConversionError(t *testing.T, err error, path, reason string) {
	t.Helper()
	var at *value.ConversionError
	if !errors.As(err, &at) {
		t.Errorf("error %v, want %s: %s", err, path, reason)
		return
	}
	if reason == "nested deeper than 10000" && len(at.Path) > value.MaxDepth {
		path = at.Path
	}
	if at.Path != path || at.Reason != reason {
		t.Errorf("error %.80s: %s\nwant  %s: %s", at.Path, at.Reason, path, reason)
	}
}

// rivals runs ours and theirs as sub-benchmarks over the same n bytes.
func rivals(b *testing.B, n int, ours, theirs func() error) {
	for _, r := range []struct {
		name string
		run  func() error
	}{{"deed", ours}, {"encoding-json", theirs}} {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := r.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
