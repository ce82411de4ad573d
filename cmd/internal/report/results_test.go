package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// someResults returns results with names that formats must escape.
func someResults(format string) *results {
	r := newResults(format, "deed check")
	for _, file := range []string{"a:b/ü %.yaml", "/abs.yaml", "stdin"} {
		s := r.subject(file, `ConfigMap <"&>`)
		s.found = []result{
			{rule: "stale-path", level: levelWarning, where: notice.Position{File: file, Line: 3, Column: 7}, message: "a\x00b", remedy: "mend"},
			{rule: "unknown", level: levelError, where: notice.Position{File: file, Line: 4}, message: "c"},
			{rule: "stale-path", level: levelWarning, where: notice.InFile(file), message: "d", mild: true},
		}
		r.subject(file, "Pod fine")
		r.subject(file, "Widget unknown").seen = exempted
		r.subject(file, "Widget broken").seen = notLooked
	}
	return r
}

// someNotices holds notices with and without a subject of someResults.
var someNotices = []notice.Notice{
	{Class: notice.NoSchema, Where: notice.Position{File: "stdin", Line: 9}, Subject: "Pod fine", Text: "e"},
	{Class: notice.Unread, Where: notice.Position{File: "a:b/ü %.yaml", Line: 9, Column: 2}, Text: "f"},
	{Class: notice.Unread, Where: notice.InFile("missing.yaml"), Text: "g"},
	{Class: notice.Odd, Warning: true, Where: notice.InFile("stdin"), Text: "h"},
}

// TestSARIF checks documents against the schema of SARIF: fields and kinds by testdata/sarif.yaml, and the rest in code.
func TestSARIF(t *testing.T) {
	for _, r := range []*results{someResults(FormatSARIF), newResults(FormatSARIF, "deed check")} {
		var out bytes.Buffer
		r.notChecked = []string{"names"}
		if err := r.write(&out, someNotices); err != nil {
			t.Fatal(err)
		}
		log, err := value.Parse(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typed.New(log, sarifType(t)); err != nil {
			t.Errorf("not as SARIF has it: %v", err)
		}
		run := log.Get("runs").Item(0)
		rules := run.Get("tool", "driver", "rules")
		if log.Get("version").Str() != "2.1.0" || run.Get("tool", "driver", "name").Str() == "" || rules.Kind() != value.KindList ||
			run.Get("results").Kind() != value.KindList {
			t.Errorf("something that must be there is missing: %v", log)
		}
		for x := range run.Get("results").Items() {
			checkSARIFResult(t, x, rules)
		}
	}
}

func sarifType(t *testing.T) *schema.Type {
	text, err := os.ReadFile("testdata/sarif.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := yaml.Parse("testdata/sarif.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	document, err := schema.ParseDocument(docs[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(document)
	if err != nil {
		t.Fatal(err)
	}
	typ, ok := compiled["log"]
	if !ok {
		t.Fatal("no type log")
	}
	return typ
}

// checkSARIFResult checks the demands of the SARIF schema on a result, given the rules of its run.
func checkSARIFResult(t *testing.T, x, rules value.Value) {
	index := x.Get("ruleIndex")
	if index.Kind() != value.KindInt || rules.Item(int(index.Int())).Get("id").Str() != x.Get("ruleId").Str() {
		t.Errorf("rule %v is not that of index %v", x.Get("ruleId"), x.Get("ruleIndex"))
	}
	if !slices.Contains([]string{"none", "note", "warning", "error"}, x.Get("level").Str()) || x.Get("message", "text").Str() == "" {
		t.Errorf("no level or message: %v", x)
	}
	place := x.Get("locations").Item(0).Get("physicalLocation")
	if _, err := url.Parse(place.Get("artifactLocation", "uri").Str()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"startLine", "startColumn"} {
		if n := place.Get("region", name); !n.IsAbsent() && n.Int() < 1 {
			t.Errorf("%s is %v", name, n)
		}
	}
}

// TestFileURI checks that references lead back to the file.
func TestFileURI(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.yaml": "a/b.yaml", "a:b.yaml": "./a:b.yaml", "ü %.yaml": "%C3%BC%20%25.yaml", "/x/y.yaml": "file:///x/y.yaml",
	} {
		if got := fileURI(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestJUnit checks that reports have only the elements and attributes of Jenkins' JUnit schema, and correct counts.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	r := someResults(FormatJUnit)
	r.notChecked = []string{"names"}
	if err := r.write(&out, someNotices); err != nil {
		t.Fatal(err)
	}
	admitted := map[string]string{
		"testsuites": "name tests failures errors", "testsuite": "name tests failures errors skipped", "testcase": "name classname",
		"failure": "message type", "error": "message type", "skipped": "message", "system-out": "", "properties": "", "property": "name value",
	}
	inside := map[string]string{"testsuite": "testsuites", "testcase": "testsuite", "failure": "testcase", "skipped": "testcase",
		"system-out": "testcase", "error": "testcase", "properties": "testsuite", "property": "properties"}
	var around []string
	count := map[string]int{}
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			count[name]++
			attributes, ok := admitted[name]
			if !ok || inside[name] != "" && around[len(around)-1] != inside[name] {
				t.Errorf("element %s inside of %v", name, around)
			}
			for _, a := range x.Attr {
				if !slices.Contains(strings.Fields(attributes), a.Name.Local) {
					t.Errorf("attribute %s of %s", a.Name.Local, name)
				}
				if want := map[string]string{"failures": "3", "errors": "6"}[a.Name.Local]; name == "testsuites" && want != "" && a.Value != want {
					t.Errorf("%s %s, want %s", a.Value, a.Name.Local, want)
				}
			}
			around = append(around, name)
		case xml.EndElement:
			around = around[:len(around)-1]
		}
	}
	if count["testcase"] != 15 || count["failure"] != 3 || count["skipped"] != 3 || count["error"] != 6 || count["system-out"] != 4 {
		t.Errorf("there are %v", count)
	}
}
