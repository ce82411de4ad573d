package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const (
	rulesPage   = "docs/rules.md"
	ruleScripts = "testdata/script/rules"
	ruleOutput  = "output" // the file of a script with the output of deed replay
)

// rule is one row of docs/rules.md.
type rule struct {
	text   string
	script string // relative to docs
	links  [][2]string
}

var (
	ruleRow     = regexp.MustCompile(`(?m)^\| \[([A-Z]\d+)\]\(([^)]+)\) \| (.+) \| (.+) \|$`)
	ruleLink    = regexp.MustCompile(`\[([\w.]+)\]\(([^)]+)\)`)
	ruleName    = regexp.MustCompile(`"([A-Z]\d+)"|\(([A-Z]\d+)(?:, ([A-Z]\d+))*\)`) // as decisions and explanations write it
	ruleComment = regexp.MustCompile(`(?m)^\s*//\t([A-Z]\d+)  (\S.*(?:\n\s*//\t {4,}\S.*)*)`)
	ruleSource  = regexp.MustCompile(`, see \[[\w.]+\]`)
	ruleUse     = regexp.MustCompile(`^(Removed|Extracted): \w`) // tells the rules of one section of the page apart
)

// readRules returns the rules of docs/rules.md by number.
func readRules(t *testing.T) map[string]rule {
	t.Helper()
	out := map[string]rule{}
	for _, row := range ruleRow.FindAllStringSubmatch(string(fileText(t, rulesPage)), -1) {
		r := rule{script: row[2], text: row[3]}
		for _, link := range ruleLink.FindAllStringSubmatch(row[4], -1) {
			r.links = append(r.links, [2]string{link[1], link[2]})
		}
		if _, twice := out[row[1]]; twice {
			t.Errorf("%s has %s twice", rulesPage, row[1])
		}
		out[row[1]] = r
	}
	if len(out) == 0 {
		t.Fatalf("%s has no rules", rulesPage)
	}
	return out
}

func fileText(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRuleScripts runs deed replay on the script of each rule and compares the output with the recorded one; -update re-records it. A
// script begins with the text of its rule, and every script has a rule.
func TestRuleScripts(t *testing.T) {
	t.Chdir("../../..")
	t.Setenv(epochVariable, "1767225600")
	rules := readRules(t)
	scripts, err := filepath.Glob(filepath.Join(ruleScripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		number := strings.TrimSuffix(filepath.Base(script), ".txtar")
		if _, ok := rules[number]; !ok {
			t.Errorf("%s is the script of no rule", script)
		}
	}
	for number, r := range rules {
		t.Run(number, func(t *testing.T) { runRuleScript(t, number, r) })
	}
}

func runRuleScript(t *testing.T, number string, r rule) {
	file := path.Join(ruleScripts, number+".txtar")
	if linked := path.Join(path.Dir(rulesPage), r.script); linked != file {
		t.Errorf("%s is linked to %s", number, linked)
	}
	archive := txtar.Parse(fileText(t, file))
	if got, want := firstParagraph(string(archive.Comment)), number+": "+r.text; got != want {
		t.Errorf("the script begins with\n%s\nwant\n%s", got, want)
	}
	var out, errs bytes.Buffer
	if code := Run([]string{"replay", "-f", file}, strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	last := len(archive.Files) - 1
	if last < 0 || archive.Files[last].Name != ruleOutput {
		t.Fatalf("the last file is not called %s", ruleOutput)
	}
	if bytes.Equal(archive.Files[last].Data, out.Bytes()) {
		return
	}
	if !*update {
		t.Fatalf("output:\n%s\nwant:\n%s", out.Bytes(), archive.Files[last].Data)
	}
	archive.Files[last].Data = out.Bytes()
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstParagraph returns the comment at the start of a history up to the first empty line, as one line.
func firstParagraph(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			break
		}
		words = append(words, comment)
	}
	return strings.Join(words, " ")
}

// TestRulesAreInTheCode checks that the functions that docs/rules.md names exist. It also checks that docs/rules.md has each rule that
// decisions, explanations and the doc comments of the engine name, in the words of the doc comments.
func TestRulesAreInTheCode(t *testing.T) {
	t.Chdir("../../..")
	rules := readRules(t)
	for number, r := range rules {
		if len(r.links) == 0 {
			t.Errorf("no function carries out %s", number)
		}
		for _, link := range r.links {
			file := path.Join(path.Dir(rulesPage), link[1])
			if !declares(string(fileText(t, file)), link[0]) {
				t.Errorf("%s: there is no function %s in %s", number, link[0], file)
			}
		}
	}
	named := namedRules(t)
	if !named["A6"] {
		t.Error("no decision names A6")
	}
	documented := map[string]bool{}
	for _, file := range sources(t, "typed", "merge", "managedfields") {
		for _, found := range ruleComment.FindAllStringSubmatch(string(fileText(t, file)), -1) {
			named[found[1]], documented[found[1]] = true, true
			if got, want := commented(found[2]), plain(rules[found[1]].text); got != want {
				t.Errorf("a doc comment in %s has %s as\n%s\n%s has\n%s", file, found[1], got, rulesPage, want)
			}
		}
	}
	for number := range named {
		if _, ok := rules[number]; !ok {
			t.Errorf("%s has no rule %s", rulesPage, number)
		}
	}
	for number := range rules {
		if !documented[number] {
			t.Errorf("no doc comment lists %s", number)
		}
	}
}

// commented returns the text of a rule in a doc comment as one line, without references to other names.
func commented(text string) string {
	return ruleSource.ReplaceAllString(strings.Join(strings.Fields(strings.ReplaceAll(text, "//\t", "")), " "), "")
}

// plain returns the text of a rule on the page without the use of the set that it is about.
func plain(text string) string {
	return ruleUse.ReplaceAllStringFunc(text, func(match string) string { return strings.ToUpper(match[len(match)-1:]) })
}

// namedRules returns the numbers of rules in decisions and in explanations.
func namedRules(t *testing.T) map[string]bool {
	named := map[string]bool{}
	for _, file := range append(sources(t, "cmd/internal/cli", "cmd/internal/explain", "cmd/internal/report"), "merge/decision.go") {
		for _, found := range ruleName.FindAllStringSubmatch(string(fileText(t, file)), -1) {
			for _, number := range found[1:] {
				named[number] = true
			}
		}
	}
	delete(named, "") // the pattern matches an empty name where there is no second number
	return named
}

// declares reports whether source declares the function called name, which has the type of its receiver in front if it is a method.
func declares(source, name string) bool {
	receiver, method, found := strings.Cut(name, ".")
	if !found {
		return regexp.MustCompile(`(?m)^func (\(\w+ \*?\w+\) )?` + name + `\(`).MatchString(source)
	}
	return regexp.MustCompile(`(?m)^func \((\w+ )?\*?` + receiver + `\) ` + method + `\(`).MatchString(source)
}

// sources returns the files of the packages, without tests.
func sources(t *testing.T, packages ...string) []string {
	t.Helper()
	var out []string
	for _, pkg := range packages {
		files, err := fs.Glob(os.DirFS(pkg), "*.go")
		if err = errors.Join(err, requireSome(files)); err != nil {
			t.Fatalf("%s: %v", pkg, err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				out = append(out, path.Join(pkg, file))
			}
		}
	}
	return out
}

func requireSome(files []string) error {
	if len(files) == 0 {
		return fs.ErrNotExist
	}
	return nil
}
