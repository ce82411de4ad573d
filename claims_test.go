package deed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClaims wants a mark for each figure in CONTRIBUTING.md, README.md and docs: an HTML comment that names what checks the
// figure. A mark stands alone on a line, before the paragraph, list or table that it covers:
//
//	<!-- checked: test server TestLimits -->                    the named tests, in the folder of a package
//	<!-- checked: bench server BenchmarkGrowth 2026-11-22 -->   a benchmark, and the day of the figures
//	<!-- checked: run 2026-11-22 cd oracle && go run ./bench -->a longer run: its day and its command
//	<!-- section checked: … -->                                 the same for all up to the next heading of the same level
//	<!-- page checked: … -->                                    the same for the whole page
//
// Several checks are separated by semicolons. A row of a table needs no mark if it has a command, and a cell that says "gate"
// or names the day of the figure. Versions, links, code and the numbers of lists are no figures.
func TestClaims(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob("docs/cli/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(pages, commands, []string{"CONTRIBUTING.md", "README.md"}) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range unchecked(string(text)) {
			t.Errorf("%s:%s", name, problem)
		}
	}
}

var (
	markLine = regexp.MustCompile(`^<!-- (?:(section|page) )?checked: (.*) -->$`)
	noFigure = regexp.MustCompile("`[^`]*`" + `|\[[^\]]*\]\([^)]*\)|\bv\d[\w.]*|^\s*\d+\.\s|[A-Za-z][\w/]*\d\w*|<!--.*?-->`)
	figure   = regexp.MustCompile(`\d`)
	ownMark  = regexp.MustCompile("^\\|.*\\| (gate|\\d{4}-\\d\\d-\\d\\d) \\|.*`[^`]+`")
)

// unchecked returns the places of a page, line first, that have a figure and no mark, and the marks that name nothing.
func unchecked(page string) []string {
	var problems []string
	var pageMark, block bool // whether a mark covers the page, or the block that goes on
	section := 0             // the level of the heading that a section's mark stands below; 0 is none
	level, code := 0, false
	reported := false // of this block
	for i, line := range strings.Split(page, "\n") {
		number := i + 1
		mark := markLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			code = !code
		case code || strings.HasPrefix(line, "    ") || ownMark.MatchString(line):
		case mark != nil:
			for check := range strings.SplitSeq(mark[2], "; ") {
				if err := existing(check); err != nil {
					problems = append(problems, fmt.Sprintf("%d: %v", number, err))
				}
			}
			switch mark[1] {
			case "page":
				pageMark = true
			case "section":
				section = max(level, 1)
			default:
				block = true
			}
		case strings.HasPrefix(line, "#"):
			level = len(line) - len(strings.TrimLeft(line, "#"))
			if level <= section {
				section = 0
			}
			block, reported = false, false
		case strings.TrimSpace(line) == "":
			block, reported = false, false
		case !pageMark && section == 0 && !block && !reported && figure.MatchString(noFigure.ReplaceAllString(line, "")):
			problems = append(problems, fmt.Sprintf("%d: nothing checks the figures of %q", number, line))
			reported = true
		}
	}
	return problems
}

// existing returns an error if check names a test or benchmark that does not exist, or has no day.
func existing(check string) error {
	words := strings.Fields(check)
	if len(words) < 3 {
		return fmt.Errorf("%q is no check", check)
	}
	switch kind, words := words[0], words[1:]; kind {
	case "test":
		return declared(words[0], words[1:])
	case "bench":
		day := words[len(words)-1]
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("the benchmark of %q has no day", check)
		}
		return declared(words[0], words[1:len(words)-1])
	case "run":
		if _, err := time.Parse(time.DateOnly, words[0]); err != nil {
			return fmt.Errorf("the run of %q has no day", check)
		}
		return nil
	default:
		return fmt.Errorf("%q is neither a test, a bench nor a run", check)
	}
}

// declared returns an error unless the test files in dir declare every function of names.
func declared(dir string, names []string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		source.Write(text)
	}
	for _, name := range names {
		if !strings.Contains(source.String(), "\nfunc "+name+"(") {
			return fmt.Errorf("%s has no test files with %s", dir, name)
		}
	}
	return nil
}

// TestUnchecked shows what is a figure and what covers it.
func TestUnchecked(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       int
	}{
		{"a figure", "It takes 5 ms.", 1},
		{"a version, code and a link", "v1.37 has `x 5` and [decision 5](5.md), in x86.", 0},
		{"a mark", "<!-- checked: test . TestClaims -->\nIt takes 5 ms.\nOr 6.", 0},
		{"a mark of the block before", "<!-- checked: test . TestClaims -->\nIt takes 5 ms.\n\nOr 6.", 1},
		{"a section", "## A\n<!-- section checked: test . TestClaims -->\n5\n\n6\n### B\n7\n## C\n8", 1},
		{"a page", "<!-- page checked: test . TestClaims -->\n# A\n5\n# B\n6", 0},
		{"a missing test", "<!-- checked: test . TestMissing -->\n5", 1},
		{"a run without a day", "<!-- checked: run go test -->\n5", 1},
		{"a row with a command", "| a | 5 | 2026-11-22 | `go test` |\n| b | 5 | gate | `go test` |\n| c | 5 | soon | `go test` |", 1},
		{"code", "```\n5\n```\n\n    6\n", 0},
	} {
		if got := unchecked(c.page); len(got) != c.want {
			t.Errorf("%s: %q, want %d problems", c.name, got, c.want)
		}
	}
}

// TestBars runs no bar, but looks at the commands of docs/bars.md: each pattern of go test names a function in the packages
// behind it. Rows of the tables are short enough to be read in a terminal.
func TestBars(t *testing.T) {
	page, err := os.ReadFile("docs/bars.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("`([^`]*go test [^`]*)`")
	folder, found := ".", 0
	for i, line := range strings.Split(string(page), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			folder, _, _ = strings.Cut(heading, ":")
			folder = strings.TrimPrefix(folder, "The root")
		}
		if strings.HasPrefix(line, "|") && len([]rune(line)) > 160 {
			t.Errorf("docs/bars.md:%d: the row has more than 160 characters", i+1)
		}
		for _, m := range command.FindAllStringSubmatch(line, -1) {
			pattern, dirs := testCommand(filepath.Join(".", folder), strings.ReplaceAll(m[1], `\|`, "|"))
			if pattern == "" {
				continue
			}
			found++
			if !anyDeclared(t, dirs, regexp.MustCompile(pattern)) {
				t.Errorf("docs/bars.md:%d: %v have no test, benchmark or fuzz target like %s", i+1, dirs, pattern)
			}
		}
	}
	if found == 0 {
		t.Error("docs/bars.md has no command with a pattern")
	}
}

// testCommand returns the pattern of the tests or benchmarks that a command line runs in folder, and the folders of its packages.
// The pattern is empty if it runs all.
func testCommand(folder, line string) (pattern string, dirs []string) {
	if into, rest, ok := strings.Cut(line, " && "); ok {
		folder, line = filepath.Join(folder, strings.TrimPrefix(into, "cd ")), rest
	}
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	for i, word := range words {
		switch {
		case (word == "-run" || word == "-bench") && words[i+1] != "^$":
			pattern = words[i+1]
		case strings.HasPrefix(word, "."):
			dirs = append(dirs, filepath.Join(folder, word))
		}
	}
	return pattern, dirs
}

// anyDeclared reports whether a test file in dirs declares a test or benchmark that pattern matches.
func anyDeclared(t *testing.T, dirs []string, pattern *regexp.Regexp) bool {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	for _, dir := range dirs {
		if base, ok := strings.CutSuffix(dir, "/..."); ok {
			dir = filepath.Join(base, "internal/*")
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declaration.FindAllSubmatch(text, -1) {
				if pattern.Match(m[1]) {
					return true
				}
			}
		}
	}
	return false
}
