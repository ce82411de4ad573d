// Command examples gathers the examples of the playground from the documentation and its test data, so that they are written once. It runs
// in the root of the checkout, and prints [Group] values as JSON:
//
//   - the command of README.md;
//   - for each question of docs/cli.md, the first command of its page that the playground can answer;
//   - the other commands of docs/cli with other files;
//   - the histories of testdata/replay, and the history of each rule of docs/rules.md.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/cmd/internal/secret"
)

func main() {
	groups, err := gather(os.DirFS("."))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(groups)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "examples: "+secret.Open.Error(err))
		os.Exit(1)
	}
}

// Group is a list of examples with a name.
type Group struct {
	Name     string     `json:"name"`
	Examples []*Example `json:"examples"`
}

// Example is a state of the page: see app.js.
type Example struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Rule  string `json:"rule,omitempty"` // the number of a rule, if the example is its history
	Tab   string `json:"tab,omitempty"`  // what the example shows first

	Mode        string   `json:"mode"` // apply or history
	Manager     string   `json:"manager,omitempty"`
	Force       bool     `json:"force,omitempty"`
	Fields      []string `json:"fields,omitempty"`
	Live        string   `json:"live,omitempty"`
	Config      string   `json:"config,omitempty"`
	Definitions string   `json:"definitions,omitempty"`
	History     string   `json:"history,omitempty"`
}

// gather returns the examples of a checkout.
func gather(root fs.FS) ([]Group, error) {
	g := gatherer{root: root, seen: map[string]bool{}}
	groups := []Group{g.readme(), g.questions(), g.commands(), g.histories(), g.rules()}
	return groups, g.err
}

// gatherer reads a checkout. It keeps the first error.
type gatherer struct {
	root fs.FS
	err  error
	seen map[string]bool // the states so far
}

func (g *gatherer) read(name string) string {
	text, err := fs.ReadFile(g.root, name)
	if g.err == nil {
		g.err = err
	}
	return string(text)
}

func (g *gatherer) readme() Group {
	var found []*Example
	for _, command := range commandsIn(g.read("README.md")) {
		if x := g.example(command, "testdata/readme"); x != nil && len(found) == 0 {
			x.ID, x.Title = "readme", "A pipeline owns the image"
			x.Note = "Two managers share a Deployment. kubectl wants a new image, which the release pipeline owns."
			found = append(found, x)
		}
	}
	return Group{"README", found}
}

var question = regexp.MustCompile("(?m)^\\| ([^|]+) \\| \\[`deed (\\w+)`\\]\\(cli/\\w+\\.md\\)")

func (g *gatherer) questions() Group {
	out := Group{Name: "Questions"}
	for _, m := range question.FindAllStringSubmatch(g.read("docs/cli.md"), -1) {
		for _, command := range commandsIn(g.read("docs/cli/" + m[2] + ".md")) {
			if x := g.example(command, "testdata/docs"); x != nil {
				g.seen[x.state()] = true
				x.ID, x.Title, x.Note = "cli/"+m[2], m[1], "As "+command+" in docs/cli/"+m[2]+".md."
				out.Examples = append(out.Examples, x)
				break
			}
		}
	}
	return out
}

// commands returns the commands of docs/cli whose state no earlier example has.
func (g *gatherer) commands() Group {
	out := Group{Name: "Commands"}
	pages, err := fs.Glob(g.root, "docs/cli/*.md")
	if g.err == nil {
		g.err = err
	}
	for _, page := range pages {
		number := 0
		for _, command := range commandsIn(g.read(page)) {
			x := g.example(command, "testdata/docs")
			if x == nil || g.seen[x.state()] {
				continue
			}
			g.seen[x.state()] = true
			number++
			name := strings.TrimSuffix(path.Base(page), ".md")
			x.ID, x.Title, x.Note = fmt.Sprintf("cli/%s/%d", name, number), command, "A command of "+page+"."
			out.Examples = append(out.Examples, x)
		}
	}
	return out
}

func (g *gatherer) histories() Group {
	out := Group{Name: "Histories"}
	for _, name := range []string{"testdata/replay/who-scales.yaml", "testdata/replay/atomic-list.txtar"} {
		title, note := headOf(g.read(name))
		out.Examples = append(out.Examples, &Example{
			ID: "replay/" + strings.TrimSuffix(path.Base(name), path.Ext(name)), Title: title, Note: note, Mode: "history", History: g.history(name),
		})
	}
	return out
}

// headOf returns the first sentence of the comment at the beginning of a history, and the whole comment.
func headOf(text string) (first, whole string) {
	for line := range strings.Lines(text) {
		line, comment := strings.CutPrefix(line, "#")
		if !comment {
			break
		}
		whole = strings.TrimSpace(whole + " " + strings.TrimSpace(line))
	}
	first, _, _ = strings.Cut(whole, ". ")
	return strings.TrimSuffix(first, "."), whole
}

var rule = regexp.MustCompile(`(?m)^\| \[([A-Z]\d+)\]\(\.\./(testdata/script/rules/[^)]+)\) \| (.*?) \| `)

func (g *gatherer) rules() Group {
	out := Group{Name: "Rules"}
	for _, m := range rule.FindAllStringSubmatch(g.read("docs/rules.md"), -1) {
		out.Examples = append(out.Examples, &Example{
			ID: "rules/" + m[1], Title: m[1] + ": " + shortened(m[3], 70), Note: m[1] + ": " + m[3], Rule: m[1], Mode: "history", History: g.history(m[2]),
		})
	}
	return out
}

// shortened returns text with at most so many characters, cut between words.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:strings.LastIndexByte(text[:limit], ' ')] + " …"
}

var word = regexp.MustCompile(`[\w-]+\.ya?ml`)

// history returns a history as an archive with all files that it names, without the expected output of its script.
func (g *gatherer) history(name string) string {
	archive := &txtar.Archive{Comment: []byte(g.read(name))}
	if path.Ext(name) == ".txtar" {
		archive = txtar.Parse(archive.Comment)
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "output" })
	for _, file := range word.FindAllString(string(archive.Comment), -1) {
		known := slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == file })
		if known {
			continue
		}
		text, err := fs.ReadFile(g.root, path.Join(path.Dir(name), file))
		if err != nil {
			continue // a comment names a file that the history does not read
		}
		archive.Files = append(archive.Files, txtar.File{Name: file, Data: text})
	}
	return string(bytes.TrimLeft(txtar.Format(archive), "\n"))
}

// commandsIn returns the command lines of a page, without what follows the command itself.
func commandsIn(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		command, ok := strings.CutPrefix(line, "$ deed ")
		if !ok {
			continue
		}
		if end := strings.IndexAny(command, "|>&"); end >= 0 {
			command = strings.TrimSuffix(strings.TrimSpace(command[:end]), " 2")
		}
		out = append(out, "deed "+strings.TrimSpace(command))
	}
	return out
}

// how says what the playground shows of a command: where the files of -f go, and the tab that it opens.
type how struct{ files, tab string }

var shown = map[string]how{
	"apply": {"config", ""}, "plan": {"config", "plan"}, "diff": {"config", "object"}, "validate": {"config", "plan"}, "migrate": {"config", "plan"},
	"transfer": {"config", ""}, "blame": {"live", "object"}, "fields": {"live", "object"}, "explain": {"live", "object"}, "extract": {"live", "object"},
	"check": {"live", "object"}, "replay": {"history", ""},
}

// unshown are the flags with an effect that the playground does not have.
var unshown = []string{"--rules", "--subresource", "--migration", "--no-migration", "--force-manager", "-k", "--kind", "--show-secrets", "--schemas", "-n", "--kubernetes"}

// example returns the state in which the playground answers command, a line of a page whose files are in dir. It returns nil if the
// playground cannot answer it, or if files are not in dir, because another command of the page makes them.
func (g *gatherer) example(command, dir string) *Example {
	words := strings.Fields(strings.ReplaceAll(command, "'", ""))
	h, ok := shown[words[1]]
	if !ok || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(unshown, w) }) {
		return nil
	}
	x := &Example{Mode: "apply", Manager: "kubectl", Tab: h.tab}
	texts := map[string]string{}
	for i, w := range words[:len(words)-1] {
		value := words[i+1]
		switch w {
		case "-f", "--live", "--crd":
			name := path.Join(dir, value)
			if rest, ok := strings.CutPrefix(value, "replay/"); ok {
				name = "testdata/replay/" + rest
			}
			text, err := fs.ReadFile(g.root, name)
			if err != nil {
				return nil
			}
			to := map[string]string{"-f": h.files, "--live": "live", "--crd": "definitions"}[w]
			if to == "history" {
				text = []byte(g.history(name))
			}
			if texts[to] != "" {
				texts[to] += "---\n"
			}
			texts[to] += string(text)
		case "--field-manager", "--to":
			if h.files == "config" {
				x.Manager = value
			}
		case "--force-field":
			x.Fields = append(x.Fields, value)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	x.Force = slices.Contains(words, "--force-conflicts")
	x.Live, x.Config, x.Definitions, x.History = texts["live"], texts["config"], texts["definitions"], texts["history"]
	if x.History != "" {
		x.Mode, x.Manager = "history", ""
	}
	return x
}

// state returns what tells x from other examples.
func (x *Example) state() string {
	return fmt.Sprintf("%q", []any{x.Mode, x.Manager, x.Force, x.Fields, x.Live, x.Config, x.Definitions, x.History})
}
