package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/testobjects"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// linesOf returns the lines of o.
func linesOf(t *testing.T, o *manifest.Object) []blame.Line {
	t.Helper()
	c := types.NewLibrary(&manifest.Loader{Log: notice.NewLog(os.Stderr, nil)})
	e, ok := c.TypeOf(o, c.NewTypes(types.Flags{}), managedfields.Config{})
	if !ok {
		t.Fatalf("%v has no type", o.Id)
	}
	lines, err := blame.Annotate(o, e)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// withComments returns the YAML of o with owners as comments.
func withComments(t *testing.T, o *manifest.Object) string {
	t.Helper()
	var out bytes.Buffer
	p := NewBlamePrinter(&out, FormatYAML, OwnerNames{}, false, nil, true)
	p.Print(blame.Object{Object: o, Lines: linesOf(t, o)})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCommentsAreYAML checks that comments change nothing of what a YAML parser reads.
func TestCommentsAreYAML(t *testing.T) {
	texts := []string{
		"", " ", "#", "a # b", "a: b", "|", ">-", "a |", "line\n", "two\nlines", "two\nlines\n\n", "\nlines\n", " indented\nlines\n",
		"trailing \nspace", strings.Repeat("word ", 40), strings.Repeat("word # ", 40), strings.Repeat("a: |\n", 3), "\ttab", "\x01\n",
		strings.Repeat("x", 200), "'", `"`, strings.Repeat(`"' `, 50), "- a", "--- a", "é\u2028", strings.Repeat("a long |", 30) + "|",
	}
	objects := testobjects.Owned(t)
	var data []value.Member
	for i, text := range texts {
		data = append(data, value.Member{Name: fmt.Sprint("k", i), Value: value.String(text)})
		data = append(data, value.Member{Name: "key " + text, Value: value.String(text)})
	}
	i := slices.IndexFunc(objects, func(o *manifest.Object) bool { return o.Id.Kind == "ConfigMap" })
	texty := *objects[i]
	texty.Content = texty.Content.With("data", value.Object(data...))
	for _, o := range append(objects, &texty) {
		text := withComments(t, o)
		docs, err := yaml.Parse("", []byte(text))
		if err != nil {
			t.Errorf("%v: %v\n%s", o.Id, err, text)
			continue
		}
		if len(docs) != 1 || !docs[0].Value.Equal(o.Content) {
			t.Errorf("%v reads differently with comments:\n%s", o.Id, text)
		}
		if !strings.Contains(text, "# m0 Apply") {
			t.Errorf("%v has no owner in\n%s", o.Id, text)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m", 47 * time.Hour: "47h",
		48 * time.Hour: "2d", 729 * 24 * time.Hour: "729d", 730 * 24 * time.Hour: "2y", -time.Hour: "in 60m",
		math.MinInt64: "in 292y",
	} {
		if got := age(d); got != want {
			t.Errorf("age(%v) = %q, want %q", d, got, want)
		}
	}
}
