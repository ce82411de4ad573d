package kinds_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/server/kinds"
)

var update = flag.Bool("update", false, "write the section Rules of docs/builtin.md anew")

// TestPage compares the section Rules of docs/builtin.md with the table of kinds.
func TestPage(t *testing.T) {
	const page, heading = "../../docs/builtin.md", "## Rules\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), heading)
	if !ok {
		t.Fatalf("%s has no section Rules", page)
	}
	want := head + heading + "\n" + rulesTable()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is stale: run this test with -update", page)
	}
}

const aboutRules = `This table says what deed-apiserver does with each kind beyond the data above. It is made from the table of server/kinds.

- names: what a name must be.
- own rules: server/kinds has rules for the fields of the kind, or for the named subresources. schema: required and enumerated texts, too.
- warnings: the server warns of probable mistakes in pods.
- updates: whether they create missing objects, and whether they must have a resource version.
- only the server knows: paths that a server fills in.

`

// rulesTable returns the section.
func rulesTable() string {
	var b strings.Builder
	b.WriteString(aboutRules)
	b.WriteString("| kind | names | own rules | warnings | updates | field selectors | only the server knows |\n|---|---|---|---|---|---|---|\n")
	for _, traits := range kinds.All() {
		facts := traits.Facts()
		name := strings.TrimSpace(traits.Group + " " + traits.Name)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, facts.Names, strings.Join(facts.Rules, ", "), facts.Warns,
			strings.Join(facts.Updates, ", "), strings.Join(facts.Selectors, ", "), strings.Join(facts.Added, ", "))
	}
	return b.String()
}

// TestAllocatedPage compares the tables of docs/server-fields.md with the table of kinds.
func TestAllocatedPage(t *testing.T) {
	const page = "../../docs/server-fields.md"
	for heading, optional := range map[string]bool{"## What only a server knows": false, "## What a cluster may add": true} {
		rows, err := recording.Rows(page, heading)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, row := range rows {
			for kind := range strings.SplitSeq(row[0], ",") {
				for _, path := range recording.Quoted(row[1]) {
					got = append(got, strings.TrimSpace(kind)+" "+path+": "+row[2])
				}
			}
		}
		add := func(kind string, all ...kinds.Allocated) {
			for _, a := range all {
				for _, path := range a.Paths {
					if a.Optional == optional {
						want = append(want, kind+" "+path+": "+a.Reason)
					}
				}
			}
		}
		add("any", kinds.Everywhere)
		for _, traits := range kinds.All() {
			add(traits.Name, traits.Added()...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q has\n%s\nwant\n%s", heading, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
