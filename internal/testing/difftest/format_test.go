package difftest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

var (
	paths   = door.Open(fieldpath.Internal{})
	schemas = door.Open(schema.Internal{})
	typing  = door.Open(typed.Internal{})
	merging = door.Open(merge.Internal{})
)

// printHead prints the part of a script before its writes.
func printHead(b *strings.Builder, comment string, h *gen.History) {
	b.WriteString(comment)
	b.WriteString("-- schema --\n{\"types\":[")
	comma := ""
	for def := range h.Schema.Document.Value().Get("types").Items() {
		fmt.Fprintf(b, "%s\n%s", comma, def)
		comma = ","
	}
	b.WriteString("\n]}\n-- versions --\n")
	for _, v := range h.Schema.Versions {
		fmt.Fprintf(b, "%s %s\n", v.Name, v.Root)
	}
	for _, r := range h.Schema.Renames {
		fmt.Fprintf(b, "rename %s\n", words([]string{r.First, r.Other}))
	}
	for _, version := range slices.Sorted(maps.Keys(h.Filters)) {
		for _, path := range h.Filters[version].Exclude {
			fmt.Fprintf(b, "exclude %s %s\n", version, steps(path))
		}
		for _, prefix := range h.Filters[version].Include {
			fmt.Fprintf(b, "include %s %s\n", version, steps(prefix))
		}
	}
}

func words(list []string) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func steps(elements []fieldpath.Element) string {
	var out []string
	for _, e := range elements {
		if e == fieldpath.Any() {
			out = append(out, "*")
		} else {
			out = append(out, e.Wire())
		}
	}
	return words(out)
}

func printWrite(b *strings.Builder, w gen.Write) {
	fmt.Fprintf(b, "-- write --\n%s %s %s", strings.ToLower(string(w.Operation)), key(w.Manager), w.Version)
	if w.Force {
		b.WriteString(" force")
	}
	if w.Retired {
		b.WriteString(" retired")
	}
	fmt.Fprintf(b, "\n%s\n", w.Object)
}

// parseScript parses a script without the recorded answers.
func parseScript(text string) (comment string, _ *gen.History, _ error) {
	h := &gen.History{Schema: &gen.Schema{}}
	comment, rest, ok := strings.Cut(text, "-- schema --\n")
	if !ok {
		return "", nil, fmt.Errorf("a script begins with a schema")
	}
	document, rest, _ := strings.Cut(rest, "-- versions --\n")
	versions, rest, _ := strings.Cut(rest, "-- write --\n")
	v, err := value.Parse([]byte(document))
	if err != nil {
		return "", nil, err
	}
	if h.Schema.Document, err = schema.ParseDocument(v); err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(versions) {
		if err := parseVersion(h, strings.TrimSuffix(line, "\n")); err != nil {
			return "", nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	for write := range strings.SplitSeq(rest, "-- write --\n") {
		w, err := parseWrite(write)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", write, err)
		}
		h.Writes = append(h.Writes, w)
	}
	return comment, h, nil
}

func parseVersion(h *gen.History, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	var list []string
	version, encoded, filtered := strings.Cut(rest, " ")
	if !filtered {
		encoded = rest
	}
	switch word {
	case "rename", "exclude", "include":
		if err := json.Unmarshal([]byte(encoded), &list); err != nil {
			return err
		}
	}
	switch word {
	case "rename":
		h.Schema.Renames = append(h.Schema.Renames, gen.Rename{First: list[0], Other: list[1]})
		return nil
	case "exclude", "include":
		return parseFilter(h, word, version, list)
	}
	h.Schema.Versions = append(h.Schema.Versions, gen.Version{Name: word, Root: rest})
	return nil
}

func parseFilter(h *gen.History, word, version string, list []string) error {
	var elements []fieldpath.Element
	for _, text := range list {
		e := fieldpath.Any()
		if text != "*" {
			var err error
			if e, err = paths.ParseElement(text); err != nil {
				return err
			}
		}
		elements = append(elements, e)
	}
	if h.Filters == nil {
		h.Filters = map[string]gen.Filter{}
	}
	f := h.Filters[version]
	if word == "exclude" {
		f.Exclude = append(f.Exclude, elements)
	} else {
		f.Include = append(f.Include, elements)
	}
	h.Filters[version] = f
	return nil
}

func parseWrite(text string) (gen.Write, error) {
	head, rest, _ := strings.Cut(text, "\n")
	object, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return gen.Write{}, fmt.Errorf("want an operation, a manager and a version")
	}
	w := gen.Write{Manager: managerOf(fields[1]), Version: fields[2], Operation: merge.Update}
	if fields[0] == "apply" {
		w.Operation = merge.Apply
	}
	w.Force, w.Retired = slices.Contains(fields, "force"), slices.Contains(fields, "retired")
	v, err := value.Parse([]byte(object))
	w.Object = v
	return w, err
}
