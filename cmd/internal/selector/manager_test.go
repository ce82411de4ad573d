package selector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

var there = []merge.Manager{
	{Name: "system:node:a", Operation: merge.Update, APIVersion: "v1"},
	{Name: "ci", Operation: merge.Update, APIVersion: "v1", Subresource: "status"},
	{Name: "ci", Operation: merge.Update, APIVersion: "v1"},
	{Name: "ci", Operation: merge.Apply},
	{Name: "ci", Operation: merge.Update, APIVersion: "v2", Subresource: "status"},
}

// TestManagers checks which managers each notation matches.
func TestManagers(t *testing.T) {
	for _, c := range []struct{ text, shown, matches string }{
		{"ci", "ci", "1 2 3 4"},
		{"ci:Apply", "ci:Apply", "3"},
		{"ci:Update", "ci:Update", "2"},
		{"ci:Update:status", "ci:Update:status", "1 4"},
		{"ci:Update:", "ci:Update", "2"},
		{"ci:Update:scale", "ci:Update:scale", ""},
		{"system:node:a", "system:node:a", "0"},
		{"system:node:a:Update", "system:node:a:Update", "0"},
		{"Update", "Update", ""},
		{"Update:status", "Update:status", ""},
		{":Apply", ":Apply", ""},
		{"ci:apply", "ci:apply", ""},
	} {
		s := ParseManager(c.text)
		var got []string
		for i, m := range there {
			if s.Matches(m) {
				got = append(got, fmt.Sprint(i))
			}
		}
		if s.String() != c.shown || strings.Join(got, " ") != c.matches {
			t.Errorf("%s is shown as %s and matches %s, want %s and %s", c.text, s, got, c.shown, c.matches)
		}
	}
}

// TestManagersOfFlag checks that each value of a flag must match an existing manager, and that errors list the existing ones.
func TestManagersOfFlag(t *testing.T) {
	for _, c := range []struct {
		text  string
		there []merge.Manager
		want  string
	}{
		{"ci,system:node:a:Update", there, "[ci system:node:a:Update]"},
		{"", there, "[]"},
		{"ci,cj", there, `--manager: there is no manager "cj" in the objects; did you mean "ci"?`},
		{"kubectl", there, `--manager: there is no manager "kubectl" in the objects, only "ci" and "system:node:a"`},
		{"kubectl", nil, `--manager: there is no manager "kubectl" in the objects`},
		{"ci:Update:scale", there, `--manager: no manager in the objects is ci:Update:scale, only ci:Apply and ci:Update and ci:Update:status`},
	} {
		var texts []string
		if c.text != "" {
			texts = strings.Split(c.text, ",")
		}
		found, err := Managers("--manager", texts, c.there)
		got := fmt.Sprint(found)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestSelectedPathsBelongToTheCaller selects several fields on each level of a deep object. No two paths share memory, so that none occurs
// twice.
func TestSelectedPathsBelongToTheCaller(t *testing.T) {
	text := `{"x":1,"y":2}`
	for range 6 {
		text = `{"a":` + text + `,"b":[` + text + `,{"x":3}],"x":1,"y":2}`
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]int{
		".a.a.a.a.a.a.*": 2,  // .x and .y
		"*.*":            -1, // every field of a field
		"b[*].*":         -1,
	} {
		s, err := Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		paths := func() []fieldpath.Path {
			paths, err := s.In(v)
			if err != nil {
				t.Fatal(err)
			}
			return paths
		}
		seen := map[string]bool{}
		for _, path := range paths() {
			if seen[path.Text()] {
				t.Errorf("%s selects %s twice", selector, path.Text())
			}
			seen[path.Text()] = true
		}
		if want >= 0 && len(seen) != want {
			t.Errorf("%s selects %d fields, want %d", selector, len(seen), want)
		}
		pathtest.Belong(t, 5, func() any { return paths() })
	}
}
