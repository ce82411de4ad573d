package builtin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// exception is a path that only a server can know, or that admission sets: a row of the table in docs/divergences.md.
type exception struct {
	kind string   // any for all kinds
	path []string // names of members; * is each item of a list, and a=b the items whose member a is b
}

// readExceptions reads the table, which names each path as a kind and names of members in backquotes.
func readExceptions(t *testing.T) []exception {
	t.Helper()
	text, err := os.ReadFile("../../docs/divergences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## What only a server knows")
	table, _, _ = strings.Cut(table, "\n## ")
	var out []exception
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		for _, kind := range strings.Split(cells[1], ",") {
			for i, path := range strings.Split(cells[2], "`") {
				if i%2 == 1 {
					out = append(out, exception{strings.TrimSpace(kind), strings.Fields(path)})
				}
			}
		}
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("no reason: %s", line)
		}
	}
	if rows := strings.Count(table, "\n| ") - 1; rows < 1 || rows > 25 {
		t.Errorf("%d rows in the table of docs/divergences.md, want 1 to 25", rows)
	}
	return out
}

// without returns v without what path leads to. What is empty thereafter is left out, too.
func without(v value.Value, path []string) value.Value {
	if len(path) == 0 {
		return value.Value{}
	}
	if v.Kind() == value.KindList {
		name, want, ok := strings.Cut(path[0], "=")
		var items []value.Value
		for item := range v.Items() {
			if path[0] == "*" || ok && item.Get(name).Str() == want || item.Str() == path[0] {
				item = without(item, path[1:])
			}
			if !item.IsAbsent() {
				items = append(items, item)
			}
		}
		if len(items) == 0 {
			return value.Value{}
		}
		return value.List(items...)
	}
	if member := v.Get(path[0]); !member.IsAbsent() {
		v = v.With(path[0], without(member, path[1:]))
	}
	if v.Kind() == value.KindObject && v.Len() == 0 {
		return value.Value{}
	}
	return v
}

// sameObject compares objects without what the exceptions lead to, and counts those that made a difference.
func (y *tally) sameObject(t *testing.T, where, kind string, want, got value.Value) {
	for _, e := range y.exceptions {
		if e.kind != "any" && e.kind != kind {
			continue
		}
		w, g := without(want, e.path), without(got, e.path)
		if w.String() != want.String() || g.String() != got.String() {
			y.allowed[e.kind+" "+strings.Join(e.path, ".")]++
		}
		want, got = w, g
	}
	y.same(t, where, kind, "objects", want.String(), got.String())
}
