package yaml

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/value"
)

// TestRewrite runs the files of testdata/rewrite. Each has a text, the wanted documents in JSON, and the outcome. The document = means no
// change. The comment has "reprinted" if comments may be lost.
func TestRewrite(t *testing.T) {
	files, err := filepath.Glob("testdata/rewrite/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 3 {
				t.Fatalf("expected three parts: %v", err)
			}
			text, wanted, want := archive.Files[0].Data, archive.Files[1].Data, archive.Files[2].Data
			got, reprinted := rewriteAll(t, text, strings.Split(strings.TrimSpace(string(wanted)), "\n"))
			if expect := strings.Contains(string(archive.Comment), "reprinted"); expect != (len(reprinted) > 0) {
				t.Errorf("reprinted documents: %v, want some: %v", reprinted, expect)
			}
			if string(got) == string(want) {
				return
			}
			t.Errorf("got\n%swant\n%s", got, want)
			if os.Getenv("UPDATE") != "" {
				archive.Files[2].Data = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func rewriteAll(t *testing.T, text []byte, wanted []string) (got []byte, reprinted []int) {
	docs, err := Parse("", text)
	if err != nil || len(docs) != len(wanted) {
		t.Fatalf("%d documents, %d wanted: %v", len(docs), len(wanted), err)
	}
	var replacements []Replacement
	for i, line := range wanted {
		if line == "=" {
			continue
		}
		v, err := value.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		replacements = append(replacements, Replacement{docs[i], v})
	}
	got, reprinted, err = Rewrite(text, replacements...)
	if err != nil {
		t.Fatal(err)
	}
	return got, reprinted
}

func TestRewriteRefuses(t *testing.T) {
	docs, err := Parse("", []byte("a: 1\n---\nb: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Rewrite([]byte("\xff\xfea\x00"), Replacement{docs[0], docs[1].Value}); !errors.Is(err, ErrText) {
		t.Errorf("UTF-16: %v", err)
	}
	one, two := Replacement{docs[0], docs[1].Value}, Replacement{docs[1], docs[0].Value}
	if _, _, err := Rewrite([]byte("a: 1\n---\nb: 2\n"), two, one); err == nil {
		t.Error("documents out of order")
	}
	if _, _, err := Rewrite([]byte("a: 1\n"), two); err == nil {
		t.Error("a document that is not in the text")
	}
	if _, _, err := Rewrite([]byte("a: 1\n"), Replacement{Document{}, docs[0].Value}); err == nil {
		t.Error("a document from nowhere")
	}
}

func TestRewriteKeepsLineEnds(t *testing.T) {
	for _, c := range []struct{ text, wanted, want string }{
		{"a: 1 # c\r\nb: 2\r\n", `{"a":2,"b":2,"c":{"d":1}}`, "a: 2 # c\r\nb: 2\r\nc:\r\n  d: 1\r\n"},
		{"\ufeffa: 1 # c\nb: 2", `{"a":2,"b":2,"c":3,"d":4}`, "\ufeffa: 2 # c\nb: 2\nc: 3\nd: 4"},
		{"- 1 # c", `[1,2]`, "- 1 # c\n- 2"},
		{"- ä: ö # c\n  ü: 'ß' # d\n  ö: 1\n", `[{"ä":"x","ü":"z","ö":1}]`, "- ä: x # c\n  ü: z # d\n  ö: 1\n"},
		{"a: 1", `{"b":1}`, "b: 1"},
	} {
		if got, _ := rewriteAll(t, []byte(c.text), []string{c.wanted}); string(got) != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzRewrite checks that the outcome has the wanted values, and that other documents keep their text.
func FuzzRewrite(f *testing.F) {
	f.Add("a: 1 # one\nb:\n- c: x # two\n  d: [1, 2]\n- e\n", `{"a":2,"b":["e",{"c":"x","d":[1]}]}`)
	f.Add("x: &a {y: 1}\nz: *a\n", `{"x":{"y":2},"z":{"y":1}}`)
	f.Add("- |+\n  a\n\n# c\n- >\n  b\n", `["a",{"b":""}]`)
	f.Add("--- # head\n? a\n: b\n<<: {c: 1}\n", `{"a":{},"c":2,"d":null}`)
	f.Add("{\"a\": [1,\n 2]}", `{"a":[3],"b":"x, y"}`)
	f.Add("a:\n  # b\n  - - 1\n    - 2\n  - 'it''s'\n", `{"a":[[2,3],"its"],"b":[]}`)
	f.Add("0", `"\n"`)
	f.Fuzz(func(t *testing.T, text, wanted string) {
		v, err := value.Parse([]byte(wanted))
		if err != nil {
			return
		}
		docs, err := Parse("", []byte(text))
		if err != nil || len(docs) == 0 {
			return
		}
		at := len(docs) / 2
		got, _, err := Rewrite([]byte(text), Replacement{docs[at], v})
		if errors.Is(err, ErrText) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse("", got)
		if err != nil {
			t.Fatalf("%q is no YAML: %v", got, err)
		}

		docs[at].Value = v
		same := slices.EqualFunc(docs, after, func(a, b Document) bool { return a.Value.Equal(b.Value) })
		if !same {
			t.Fatalf("%q becomes %q, want %s", text, got, wanted)
		}
	})
}
