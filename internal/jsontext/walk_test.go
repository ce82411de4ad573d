package jsontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/jsontext"
)

// TestSkipping passes values with strings of all lengths and escapes at all places.
func TestSkipping(t *testing.T) {
	for n := range 200 {
		long := strings.Repeat("x", n)
		for _, s := range []string{long, `\"` + long, long + `\"`, long + `\\`, long + `\"` + long + `\\\"` + long, long + `]},"`[:3]} {
			for _, text := range []string{`"` + s + `"`, `{"` + s + `":[1,"` + s + `",{}],"b":` + "\n" + `"` + s + `"}`} {
				r := jsontext.Skim([]byte(" " + text + `,"y"`))
				if r.Space(); r.Skip() != nil || r.Pos != 1+len(text) {
					t.Fatalf("%s ends at %d, want %d", r.Text, r.Pos, 1+len(text))
				}
				cut := text[:len(text)-1]
				r = jsontext.Skim([]byte(cut))
				if r.Skip() == nil || r.Pos != len(cut) {
					t.Fatalf("%s ends, at %d", cut, r.Pos)
				}
			}
		}
	}
	for text, end := range map[string]int{"": 0, " ": 1, ",": 0, "]": 0, "1": 1, "1 ": 1, "tru,": 3} {
		r := jsontext.Skim([]byte(text))
		r.Space()
		if ok := r.Skip() == nil; ok != (end > 0 && text != " ") || r.Pos != end {
			t.Errorf("%q: %v at %d, want to be at %d", text, ok, r.Pos, end)
		}
	}
}

// TestToken reads tokens, also those of texts that are not JSON.
func TestToken(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		" \n":                         "",
		` {"a\"b" :[1,-2.5e3,null]} `: `{|"a\"b"|:|[|1|,|-2.5e3|,|null|]|}`,
		"tru\te\"x\"y":                `tru|e|"x"|y`,
		`]"open\"`:                    `]|"open\"`,
		"\"\x01\xff\"'":               "\"\x01\xff\"|'",
	} {
		s := jsontext.Skim([]byte(text))
		var got []string
		for {
			first, start := s.Token()
			if first == 0 {
				break
			}
			token := text[start:s.Pos]
			if token[0] != first {
				t.Errorf("%q: token %q is said to begin with %q", text, token, first)
			}
			got = append(got, token)
		}
		if joined := strings.Join(got, "|"); joined != want || s.Pos != len(text) {
			t.Errorf("%q has the tokens %s up to %d, want %s", text, joined, s.Pos, want)
		}
	}
}

// TestMembers goes through objects and lists, and stops where they end early.
func TestMembers(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                   "true",
		` { "a" : 1 , "b":[]}`: `"a"=1 "b"=[] true`,
		`{"a":1,}`:             `"a"=1 false`,
		`{"a":1`:               `"a"=1 false`,
		`{"a"}`:                "false",
		`{a:1}`:                "false",
		`[1]`:                  "false",
		``:                     "false",
	} {
		s, got := jsontext.Skim([]byte(text)), ""
		ok := s.Members(func(start, end int) bool {
			from := s.Pos
			passed := s.Skip() == nil
			got += text[start:end] + "=" + text[from:s.Pos] + " "
			return passed
		})
		if got += fmt.Sprint(ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`[]`:         "true",
		` [ 1 ,"a"]`: `1 "a" true`,
		`[1,]`:       "1 false",
		`[1 2]`:      "1 false",
		`{}`:         "false",
	} {
		s, got := jsontext.Skim([]byte(text)), ""
		ok := s.Items(func() bool {
			from := s.Pos
			if s.Skip() != nil {
				return false
			}
			got += text[from:s.Pos] + " "
			return true
		})
		if got += fmt.Sprint(ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
