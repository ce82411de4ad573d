package recording

import (
	"fmt"
	"os"
	"strings"

	"github.com/deed-project/deed/value"
)

// Rows returns the cells of the tables below a heading of a Markdown document, without the head rows. It returns an error if the
// file cannot be read or has no rows there.
func Rows(file, heading string) ([][]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(text), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	head := true
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			head = true
		case strings.HasPrefix(line, "|---"):
			head = false
		case !head:
			for i, cell := range cells {
				cells[i] = strings.TrimSpace(cell)
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no table below %q", file, heading)
	}
	return rows, nil
}

// Quoted returns the texts in backquotes in a cell.
func Quoted(cell string) []string {
	var out []string
	for i, text := range strings.Split(cell, "`") {
		if i%2 == 1 {
			out = append(out, text)
		}
	}
	return out
}

// Exception is a part of objects of a kind that comparisons skip, because only a server can know it or its admission sets it.
type Exception struct {
	Kind string   // "any" matches all kinds
	Path []string // member names; * is each item of a list, a=b selects items with member a equal to b, other text selects equal items
}

// Exceptions returns the exceptions of the table in docs/server-fields.md: rows of kinds, paths in backquotes, and a reason.
func Exceptions(file string) ([]Exception, error) {
	rows, err := Rows(file, "## What only a server knows")
	if err != nil {
		return nil, err
	}
	var out []Exception
	for _, row := range rows {
		if len(row) != 3 || row[2] == "" {
			return nil, fmt.Errorf("%s: an exception without a reason: %q", file, row)
		}
		for kind := range strings.SplitSeq(row[0], ",") {
			for _, path := range Quoted(row[1]) {
				out = append(out, Exception{strings.TrimSpace(kind), strings.Fields(path)})
			}
		}
	}
	return out, nil
}

// String returns the kind and the path, with dots.
func (e Exception) String() string { return e.Kind + " " + strings.Join(e.Path, ".") }

// Of reports whether the exception applies to objects of kind.
func (e Exception) Of(kind string) bool { return e.Kind == "any" || e.Kind == kind }

// Without returns v without the values at the path. It also removes containers that become empty.
func (e Exception) Without(v value.Value) value.Value { return without(v, e.Path) }

func without(v value.Value, path []string) value.Value {
	if len(path) == 0 {
		return value.Value{}
	}
	if v.Kind() == value.KindList {
		return withoutItems(v, path)
	}
	if member := v.Get(path[0]); !member.IsAbsent() {
		v = v.With(path[0], without(member, path[1:]))
	}
	if v.Kind() == value.KindObject && v.Len() == 0 {
		return value.Value{}
	}
	return v
}

func withoutItems(v value.Value, path []string) value.Value {
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
