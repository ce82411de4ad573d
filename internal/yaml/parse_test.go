package yaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseStream checks the documents of a stream, each as "line: value".
func TestParseStream(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"white space", " \n\n  \n", nil},
		{"comments", "# a\n# b\n", nil},
		{"empty documents", "---\n---\n# a\n---\n...\n", nil},
		{"null is a document", "null\n---\n~\n", []string{"1: null", "3: null"}},
		{"an empty string too", "''\n---\n!!str\n", []string{`1: ""`, `3: ""`}},
		{"several", "# a\na: 1\n---\nb: 2\n---\n\n\nc: 3\n", []string{`2: {"a":1}`, `4: {"b":2}`, `8: {"c":3}`}},
		{"content behind the dashes", "--- a\n--- {b: 1}\n--- |\n  c\n", []string{`1: "a"`, `2: {"b":1}`, `3: "c\n"`}},
		{"comment behind the dashes", "--- # a\nb: 1\n", []string{`2: {"b":1}`}},
		{"dots", "a: 1\n...\n# x\n---\nb: 2\n...\n", []string{`1: {"a":1}`, `5: {"b":2}`}},
		{"dashes in a block", "a: |\n  ---\n  b\n", []string{`1: {"a":"---\nb\n"}`}},
		{"line ends", "a: 1\r\n---\r\nb: 2\r\n", []string{`1: {"a":1}`, `3: {"b":2}`}},
		{"byte order mark", "\ufeffa: 1\n---\n\ufeffb: 2\n", []string{`1: {"a":1}`, `3: {"b":2}`}},
		{"byte order mark and JSON", "\ufeff{\"a\": 1.5}", []string{`1: {"a":1.5}`}},
		{"repaired", "[\"\xff\", \"\\ud800\"]", []string{"1: [\"\ufffd\",\"\ufffd\"]"}},
		{"UTF-16", "\xff\xfea\x00:\x00 \x001\x00\n\x00", []string{`1: {"a":1}`}},
		{"JSON", "\n{\n\"a\": \"\\ud83d\\ude00\\/\"}\n", []string{`2: {"a":"😀/"}`}},
		{"JSON list", "[1, [true, null]]", []string{`1: [1,[true,null]]`}},
		{"JSON texts", "{\"a\":1}\n\n{\"b\":2} {\"c\":3}{}", []string{`1: {"a":1}`, `3: {"b":2}`, `3: {"c":3}`, `3: {}`}},
		{"JSON keeps its own rules", "[1.0, 1e3]", []string{`1: [1,1000]`}},
		{"YAML that looks like JSON", "{\"a\": 012, b: yes,}\n", []string{`1: {"a":10,"b":true}`}},
		{"JSON and YAML", "{\"a\": 1}\n---\nb: 2\n", []string{`1: {"a":1}`, `3: {"b":2}`}},
		{"JSON with a comment", "{\"a\": 1} # b\n", []string{`1: {"a":1}`}},
	} {
		docs, err := Parse("", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, d := range docs {
			got = append(got, fmt.Sprintf("%d: %s", d.Line, d.Value))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Texts that the scanner refuses.
		{"a: 1\nb: \"x\nc: 2\nd: 3\n", "f:2:4: the quote that opens here is never closed"},
		{"a: 1\nb: 'x", "f:2:4: the quote that opens here is never closed"},
		{"a:\n  b: 1\n c: 2\nd: 3\n", "f:3:2: expected another key of the object above; check indentation and quotes"},
		{"x: 1\ny: 'it's'\nz: 1\n", "f:2:8: expected another key of the object above; check indentation and quotes"},
		{"x:\n- a\n- b\nd: 1\n- e\n", "f:5:1: expected another key of the object above; check indentation and quotes"},
		{"a:\n  - b\n  -c: 1\n", `f:3:3: expected another item of the list above, which begins with "- "; check the indentation`},
		{"x: 1\nfoo\nd: 1\n", "f:2:1: missing colon after a key"},
		{"x: 1\na: b: c\nd: 1\n", "f:2:5: a colon cannot begin a value here; check the indentation, or quote the text"},
		{"a: 1\n  b: 2\n", "f:2:4: a colon cannot begin a value here; check the indentation, or quote the text"},
		{"a:\n\tb: 1\n", "f:2:1: a tab cannot indent YAML; use spaces"},
		{"a: 1\nb: @x\n", "f:2:4: a value cannot begin with this character; quote the value"},
		{"a: {b: 1,\nc: [1\nd: 2\n", "f:2:4: missing comma, or missing ] at the end of a list"},
		{"a: [1, {b: 2\n", "f:1:8: missing comma, or missing } at the end of an object"},
		{"{a: 1, b: [}\n", "f:1:12: a value is missing"},
		{"a: 1\n---\nb: 1\n---\nc:\n  d: 1\n e: 1\n", "f:7:2: expected another key of the object above; check indentation and quotes"},
		{"a: 1\n...\nb: 2\n", "f:3:1: unexpected text after the end of the document"},
		{"a: \"\\q\"\n", "f:1:5: found unknown escape character"},
		{"a: *x\n", "f:1:4: the document has no anchor with this name; quote the value if it is text"},
		{"a: {b: *longer}\n", "f:1:8: the document has no anchor with this name; quote the value if it is text"},
		{"a:\n  { \"foo\" # comment\n    :bar }\n", "f:2:3: missing comma, or missing } at the end of an object"},
		{"- [ : empty key ]\n", "f:1:5: a value is missing"},
		{"é: 日本: x\n", "f:1:6: a colon cannot begin a value here; check the indentation, or quote the text"},
		// Bytes that are invalid in every text.
		{"a: 1\nb: é\xff\n", "f:2:5: byte 0xff is not UTF-8"},
		{"a: 1\nb: \a\n", "f:2:4: character U+0007 is not allowed; write it as an escape in double quotes"},
		// Values without a form in JSON.
		{"a: .inf\n", "f:1:4: JSON has no number .inf; quote it if it is text"},
		{"a: -.INF\n", "f:1:4: JSON has no number -.inf; quote it if it is text"},
		{"- a\n- .NaN\n", "f:2:3: JSON has no number .nan; quote it if it is text"},
		{"a: 1\n~: 1\n", "f:2:1: null cannot be a key; quote it if it is text"},
		{"?\n: 1\n", "f:1:2: null cannot be a key; quote it if it is text"},
		{"? [a]\n: 1\n", "f:1:3: a list or an object cannot be a key"},
		{"a: {{ .Values.x }}\n", "f:1:5: a list or an object cannot be a key; {{ begins a template: render it first, as with helm template"},
		{"a: {{ .Values.x }}-web\n", "f:1:20: expected another key of the object above; check indentation and quotes; {{ begins a template: render it first, as with helm template"},
		{"{{- if .Values.x }}\na: b\n{{- end }}\n", "f:1:5: a value is missing; {{ begins a template: render it first, as with helm template"},
		{"a: '{{ x }}'\na: '{{ y }}'\n", `f:2:1: key "a" is already set in line 1`},
		{"9223372036854775808: a\n", "f:1:1: 9223372036854775808 cannot be a key unless it is quoted: it is larger than an int64"},
		// Tags.
		{"a: !!int x\n", `f:1:4: the value does not match its tag !!int`},
		{"a: !!int 1.0\n", `f:1:4: the value does not match its tag !!int`},
		{"a: !!float 9223372036854775808\n", `f:1:4: the value does not match its tag !!float`},
		{"a: !!bool 1\n", `f:1:4: the value does not match its tag !!bool`},
		{"a: !!null x\n", `f:1:4: the value does not match its tag !!null`},
		{"a: !!timestamp x\n", `f:1:4: the value does not match its tag !!timestamp`},
		{"a: !!binary '*'\n", "f:1:4: !!binary is not valid base64"},
		// Aliases and merges.
		{"a: &x 1\n---\nb: *x\n", "f:3:4: the document has no anchor with this name; quote the value if it is text"},
		{"a: &x\n  b: [*x]\n", "f:2:7: the alias stands inside the value that it refers to"},
		{"a: &x\n  <<: *x\n", "f:2:7: the alias stands inside the value that it refers to"},
		{"a: 1\n<<: 2\n", "f:2:5: << needs an object or a list of objects"},
		{"<<:\n", "f:1:4: << needs an object or a list of objects"},
		{"<<: [{a: 1}, 2]\n", "f:1:14: << needs an object or a list of objects"},
		{"a: &x [{b: 1}]\n<<: *x\n", "f:2:5: << needs an object or a list of objects"},
		// JSON.
		{"{\"a\": 1,\n \"b\": [1,\n", "f:3:1: .b[1]: unexpected end, want a value"},
		{"{\"a\": [1 2]\n", "f:1:10: .a: unexpected '2', want a comma or ']'"},
		{"{}\n{\"a\": {\"b\": 1,\n\"b\": 2}}", `f:3:1: .a: duplicate name "b"`},
		{"[1e400]", "f:1:2: [0]: number overflows a float64"},
	} {
		docs, err := Parse("f", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\ngot  %v, error %v\nwant %s", c.text, docs, err, c.want)
		}
		if strings.Contains(c.want, "\n") {
			t.Errorf("%q: the error has more than one line", c.text)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{File: "a.yaml", Line: 12, Column: 5, Reason: "x"}, "a.yaml:12:5: x"},
		{Error{File: "a.yaml", Line: 12, Reason: "x"}, "a.yaml:12: x"},
		{Error{File: "a.yaml", Reason: "x"}, "a.yaml: x"},
		{Error{Line: 12, Column: 5, Reason: "x"}, "12:5: x"},
		{Error{Reason: "x"}, "x"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParseErrorType(t *testing.T) {
	for _, text := range []string{"a: [", "a: 1\na: 1", "{\"a\": 1, \"a\": 1}", "\xff"} {
		_, err := Parse("f.yaml", []byte(text))
		var e *Error
		if !errors.As(err, &e) || e.File != "f.yaml" || e.Line == 0 || e.Reason == "" {
			t.Errorf("%q: got %#v", text, err)
		}
	}
}

func TestAliasLimit(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	long := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 20) + "]\n"
	deep := "a0: &a0 " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n"
	for i := 1; i < 6; i++ {
		deep += fmt.Sprintf("a%d: &a%d %s*a%d%s\n", i, i, strings.Repeat("[", 2000), i-1, strings.Repeat("]", 2000))
	}
	for _, c := range []struct{ name, text, want string }{
		{"billion laughs", laughs.String(), "7:10: aliases make this document larger by more than 16 MiB"},
		{"long text", long, "2:65: aliases make this document larger by more than 16 MiB"},
		{"depth by aliases", deep, "5:2009: nested deeper than 10000"},
		{"depth", "# YAML\n" + strings.Repeat("[", 10001) + strings.Repeat("]", 10001), "2: exceeded max depth of 10000"},
	} {
		_, err := Parse("", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		}
	}
	_, err := Parse("", []byte("a: &a "+strings.Repeat("x", 1<<20)+"\nb: ["+strings.Repeat("*a, ", 15)+"]\n"))
	if err != nil {
		t.Errorf("within the limit: %v", err)
	}
}
