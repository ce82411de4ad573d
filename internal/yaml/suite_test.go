package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// suiteCase is a case of the YAML test suite.
type suiteCase struct {
	Name  string
	YAML  string
	JSON  []json.RawMessage // its documents; nil if JSON cannot express them
	Error bool              // it is not valid YAML
}

// TestSuite runs the YAML test suite, which is about YAML 1.2. If Parse differs, testdata/suite/differences.txt has the case with the
// answer, under a heading with the reason. A changed answer fails, and so does a difference that is gone.
func TestSuite(t *testing.T) {
	cases, err := os.ReadFile("testdata/suite/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/suite/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, answer, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			known[name] = answer
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(cases))
	for decoder.More() {
		var c suiteCase
		if err := decoder.Decode(&c); err != nil {
			t.Fatal(err)
		}
		answer, ok := c.run(t)
		switch want, listed := known[c.Name]; {
		case ok && listed:
			t.Errorf("%s: is no difference any more: take it off the list", c.Name)
		case !ok && answer != want:
			t.Errorf("%s: %q\nanswer: %s\nlisted: %s\nsuite:  %s", c.Name, c.YAML, answer, want, c.want(t))
		}
		delete(known, c.Name)
	}
	for name := range known {
		t.Errorf("there is no case %s, or it is listed twice", name)
	}
}

// run returns Parse's answer, and whether the suite agrees. Neither counts documents without content.
func (c suiteCase) run(t *testing.T) (answer string, ok bool) {
	docs, err := Parse("", []byte(c.YAML))
	if err != nil {
		return "error " + err.Error(), c.Error
	}
	var got []value.Value
	for _, d := range docs {
		if !d.Value.IsNull() {
			got = append(got, d.Value)
		}
		checkRoundTrip(t, d.Value)
	}
	ok = c.Error == false && c.JSON == nil || !c.Error && slices.EqualFunc(got, c.want(t), value.Value.Equal)
	return fmt.Sprint(got), ok
}

// want returns the documents of the suite that are not null.
func (c suiteCase) want(t *testing.T) []value.Value {
	var out []value.Value
	for _, text := range c.JSON {
		v, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !v.IsNull() {
			out = append(out, v)
		}
	}
	return out
}
