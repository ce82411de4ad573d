package jsontext

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestStyles prints every character below 128 and some beyond, within other characters, in every style.
func TestStyles(t *testing.T) {
	chars := []string{"é", "😀", "\u2028", "\u2029", "\ufffd", "\xff", "\xc3"}
	for c := range utf8.RuneSelf {
		chars = append(chars, string(rune(c)))
	}
	for _, c := range chars {
		for _, s := range []string{c, "abcdefgh" + c + "ijklmnop", "abc" + c + c} {
			standard, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(AppendString(nil, s, Standard)); got != string(standard) {
				t.Errorf("%q is %s, and %s to encoding/json", s, got, standard)
			}
			if got, want := string(AppendString(nil, s, HTML)), slowString(s, true); got != want {
				t.Errorf("%q is %s in style HTML, want %s", s, got, want)
			}
			if got, want := string(AppendString(nil, s, Bare)), slowString(s, false); got != want {
				t.Errorf("%q is %s in style Bare, want %s", s, got, want)
			}
		}
	}
}

// slowString is AppendString in style HTML or Bare.
func slowString(s string, html bool) string {
	out := ""
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out += `\` + string(r)
		case c == '\n':
			out += `\n`
		case c == '\r':
			out += `\r`
		case c == '\t':
			out += `\t`
		case c < ' ', html && (c == '<' || c == '>' || c == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && size == 1):
			out += fmt.Sprintf(`\u%04x`, r)
		default:
			out += s[i : i+size]
		}
		i += size
	}
	return `"` + out + `"`
}

// FuzzString prints any string in any style and reads it again.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a\x00\x7fé\ufffd", "<\u2028>", "\xff\xed\xa0\x80", "\\\"\b\f\n\r\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for style := Standard; style <= Bare; style++ {
			text := string(AppendString([]byte("x"), in, style))[1:]
			s := Scanner{Text: text, Mode: Stored}
			got, err := s.AppendString(nil)
			want := in
			if style != Bare {
				want = string([]rune(in)) // U+FFFD for bytes that are not UTF-8
			}
			if err != nil || string(got) != want || s.Pos != len(text) {
				t.Errorf("%q is read as %q (error %v)", text, got, err)
			}
		}
	})
}

// TestSimpleEnd compares the search of eight bytes at once with one of one.
func TestSimpleEnd(t *testing.T) {
	r := seeds.Rand(t)
	for range 20000 {
		b := []byte("abcdefghijklmnopqrstuvwxyz"[:r.IntN(27)])
		if len(b) > 0 && r.IntN(3) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		got, want := simpleEnd(string(b), 0), 0
		for want < len(b) && Simple[b[want]] {
			want++
		}
		if got != want {
			t.Fatalf("%q is simple up to %d, want %d", b, got, want)
		}
	}
}
