package value

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// few returns a quarter of n in short runs, as those are that the mutants of this package are tried with.
func few(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// seeded runs a property n times, each with the source of another seed.
func seeded(t *testing.T, n int, property func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range seeds.Each(t, few(n)) {
		property(t, seeds.Stream(seed, 0))
	}
}

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

// randomValue makes a document whose lists and objects nest at most depth deep.
func randomValue(r *rand.Rand, depth int) Value {
	kinds := 6
	if depth > 0 {
		kinds = 10
	}
	switch r.IntN(kinds) {
	case 0:
		return Null()
	case 1:
		return Bool(r.IntN(2) == 0)
	case 2:
		return Int(randomInt(r))
	case 3:
		return Float(randomFloat(r))
	case 4, 5:
		return String(randomString(r))
	case 6, 7:
		items := make([]Value, r.IntN(5))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return List(items...)
	}
	return randomObject(r, depth)
}

func randomObject(r *rand.Rand, depth int) Value {
	var members []Member
	names := map[string]bool{}
	for range r.IntN(pick(r, 2, 6, 60)) {
		name := randomString(r)
		if !names[name] {
			names[name] = true
			members = append(members, Member{name, randomValue(r, min(depth-1, 2))})
		}
	}
	return Object(members...)
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

// randomFloat is small, near one of the places where printing or comparing changes its ways, or
// anything.
func randomFloat(r *rand.Rand) float64 {
	switch r.IntN(5) {
	case 0:
		return float64(r.IntN(21)-10) / 4
	case 1:
		return pick(r, 1.0, -1) * nudged(r, pick(r, 1e-6, 1e-7, 1e21, 1e20, math.MaxFloat64, math.SmallestNonzeroFloat64))
	case 2:
		return pick(r, 1.0, -1) * nudged(r, math.Ldexp(1, pick(r, 31, 52, 53, 54, 62, 63, 64)))
	case 3:
		return math.Copysign(0, pick(r, 1.0, -1.0))
	}
	for {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

// nudged is f or one of its neighbours.
func nudged(r *rand.Rand, f float64) float64 {
	return pick(r, f, math.Nextafter(f, 0), math.Nextafter(f, math.MaxFloat64))
}

// randomString is short, with everything that needs care in JSON, and not always UTF-8.
func randomString(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(pick(r, 3, 12, 40)) {
		b.WriteString(pick(r, "a", "b", "name", "spec", "<", ">", "&", "\"", "\\", "/", "\n", "\x00", "\x1f", "\x7f", "é", "😀",
			"\u2028", "\u2029", "\xff", "\xc3", "\xed\xa0\x80", "\ufffd", "eightby."))
	}
	return b.String()
}

// randomText makes a JSON text as somebody might write it: with white space, escapes and names in
// any order; sometimes damaged.
func randomText(r *rand.Rand) []byte {
	text := appendLoosely(nil, r, randomValue(r, 3))
	for range r.IntN(3) {
		damage := pick(r, "", "", ",", ":", `"`, `\`, "{", "}", "[", "]", "0", "-", ".", "e", "\x01", "\xff", "null", `\ud800`, `\u0061`)
		at := r.IntN(len(text) + 1)
		rest := text[min(len(text), at+r.IntN(2)):]
		text = append(append(append([]byte(nil), text[:at]...), damage...), rest...)
	}
	return text
}

func appendLoosely(b []byte, r *rand.Rand, v Value) []byte {
	b = appendSpace(b, r)
	switch v.Kind() {
	case KindList:
		b = append(b, '[')
		for i, item := range v.items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendLoosely(b, r, item)
		}
		b = append(b, ']')
	case KindObject:
		b = append(b, '{')
		for i, at := range r.Perm(v.Len()) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendLoosely(b, r, String(v.Member(at).Name)), ':')
			b = appendLoosely(b, r, v.Member(at).Value)
		}
		b = append(b, '}')
	case KindString:
		b = appendEscapes(append(b, '"'), r, v.Str())
		b = append(b, '"')
	case KindFloat:
		b = strconv.AppendFloat(b, v.Float(), pick(r, byte('e'), 'E', 'g'), -1, 64)
	default:
		b = v.AppendJSON(b)
	}
	return appendSpace(b, r)
}

// appendEscapes escapes more than it has to.
func appendEscapes(b []byte, r *rand.Rand, s string) []byte {
	for _, c := range s {
		if r.IntN(8) > 0 {
			b = appendQuoted(b, c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			b = fmt.Appendf(b, pick(r, `\u%04x`, `\u%04X`), unit)
		}
	}
	return b
}

// appendQuoted prints c as encoding/json does inside a string.
func appendQuoted(b []byte, c rune) []byte {
	text, err := json.Marshal(string(c))
	if err != nil {
		panic(err)
	}
	return append(b, text[1:len(text)-1]...)
}

func appendSpace(b []byte, r *rand.Rand) []byte {
	return append(b, pick(r, "", "", "", "", "", " ", "\n", "\t \r\n")...)
}
