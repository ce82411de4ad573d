package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/playground"
	"github.com/deed-project/deed/internal/testing/replays"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// epoch is the time of both programs.
const epoch = "1767225600"

var now = time.Unix(1767225600, 0).UTC()

const root = "../../../.."

// answer is what the tests read of [playground.Answer].
type answer struct {
	Problems       []playground.Problem
	Messages, Plan string
	Text           string
	Objects        []struct {
		Name, Result, YAML string
		Conflicts          []struct{ Path string }
		Blame              *struct{ Lines []struct{ Text string } }
	}
	Steps []struct {
		Text  string
		Blame *struct{ Lines []struct{ Text string } }
	}
}

// ask returns the answer to r as the page gets it.
func ask(t testing.TB, r playground.Request) answer {
	t.Helper()
	r.Now = now
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(playground.Do(request), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// request returns the question of the page about x.
func (x *Example) request() playground.Request {
	r := playground.Request{Definitions: x.Definitions}
	if x.Mode == "history" {
		r.History = &playground.History{Text: x.History}
	} else {
		r.Apply = &playground.Apply{Live: x.Live, Config: x.Config, Manager: x.Manager, Force: x.Force, Fields: x.Fields}
	}
	return r
}

// folder makes the files of x the files of the working directory.
func (x *Example) folder(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		playground.ConfigFile: x.Config, playground.LiveFile: x.Live, playground.DefinitionsFile: x.Definitions, playground.HistoryFile: x.History,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// deed returns what the command prints.
func deed(args ...string) (stdout, stderr string) {
	var out, errs bytes.Buffer
	cli.Run(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String()
}

// compare compares the answer of the playground about x with that of the command line.
func (x *Example) compare(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", epoch)
	x.folder(t)
	a := ask(t, x.request())
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: the playground has\n%s\nthe command\n%s", what, got, want)
		}
	}
	var schemas []string
	if x.Definitions != "" {
		schemas = []string{"--crd", playground.DefinitionsFile}
	}
	switch {
	case x.Mode == "history":
		out, messages := deed(append([]string{"replay", "-f", playground.HistoryFile}, schemas...)...)
		var texts strings.Builder
		for _, step := range a.Steps {
			texts.WriteString(step.Text)
		}
		same("deed replay", texts.String(), out)
		same("messages of deed replay", a.Messages, withoutRefusals(messages))
	case x.Config == "":
		out, messages := deed(append([]string{"blame", "-f", playground.LiveFile, "-o", "json"}, schemas...)...)
		var blamed []struct{ Lines []struct{ Text string } }
		if err := json.Unmarshal([]byte(out), &blamed); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if len(blamed) != len(a.Objects) || len(blamed) == 0 {
			t.Fatalf("%d objects, want %d", len(a.Objects), len(blamed))
		}
		for i, o := range blamed {
			if !slices.Equal(a.Objects[i].Blame.Lines, o.Lines) {
				t.Errorf("the lines are %v, want %v", a.Objects[i].Blame.Lines, o.Lines)
			}
		}
		same("messages of deed blame", a.Messages, messages)
	default:
		flags := append([]string{"-f", playground.ConfigFile}, schemas...)
		if x.Live != "" {
			flags = append(flags, "--live", playground.LiveFile)
		}
		flags = append(flags, "--field-manager", x.Manager)
		if x.Force {
			flags = append(flags, "--force-conflicts")
		}
		for _, path := range x.Fields {
			flags = append(flags, "--force-field", path)
		}
		out, messages := deed(append([]string{"apply"}, flags...)...)
		var stored []string
		for _, o := range a.Objects {
			if o.YAML != "" {
				stored = append(stored, o.YAML)
			}
		}
		same("deed apply", strings.Join(stored, "---\n"), out)
		same("messages of deed apply", a.Messages, messages)
		out, _ = deed(append([]string{"plan"}, flags...)...)
		same("deed plan", a.Plan, out)
	}
}

// withoutRefusals returns messages of the command line without those of a server's validation, which the playground does not have.
func withoutRefusals(messages string) string {
	var out strings.Builder
	for line := range strings.Lines(messages) {
		if !strings.Contains(line, "(the server's validation refuses this, not its merging)") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func examples(t *testing.T) []Group {
	t.Helper()
	groups, err := gather(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// TestExamples compares each example with the command line.
func TestExamples(t *testing.T) {
	for _, g := range examples(t) {
		for _, x := range g.Examples {
			t.Run(x.ID, x.compare)
		}
	}
}

// unquestioned has the questions of docs/cli.md without an example, and why.
var unquestioned = map[string]string{
	"schema": "the page shows no schemas", "policy": "the page has no server", "helm": "the page runs no Helm", "krm": "the page is no function",
}

// TestGathered checks that each question and each rule has an example.
func TestGathered(t *testing.T) {
	ids := map[string]bool{}
	for _, g := range examples(t) {
		if len(g.Examples) == 0 {
			t.Errorf("there is no example of %s", g.Name)
		}
		for _, x := range g.Examples {
			if ids[x.ID] {
				t.Errorf("two examples are called %s", x.ID)
			}
			ids[x.ID] = true
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, m := range question.FindAllStringSubmatch(read("docs/cli.md"), -1) {
		if _, left := unquestioned[m[2]]; ids["cli/"+m[2]] == left {
			t.Errorf("the question about deed %s: example %t, in unquestioned %t", m[2], ids["cli/"+m[2]], left)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "testdata/script/rules/*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	for _, name := range scripts {
		if rule := strings.TrimSuffix(filepath.Base(name), ".txtar"); !ids["rules/"+rule] {
			t.Errorf("rule %s has no example", rule)
		}
	}
}

// TestRandomHistories compares random histories with the command line.
func TestRandomHistories(t *testing.T) {
	for seed := range seeds.Each(t, 60) {
		x := &Example{Mode: "history", History: replays.Deployment(seeds.Stream(seed, 0))}
		t.Run("", x.compare)
	}
}

// TestTaken takes a field in conflict, as the page's button does.
func TestTaken(t *testing.T) {
	x := *examples(t)[0].Examples[0]
	a := ask(t, x.request())
	if len(a.Objects) != 1 || a.Objects[0].Result != "conflict" || len(a.Objects[0].Conflicts) != 1 {
		t.Fatalf("the example of the README has no conflict: %+v", a.Objects)
	}
	x.Fields = []string{a.Objects[0].Conflicts[0].Path}
	x.compare(t)
	if a = ask(t, x.request()); a.Objects[0].Result != "stored" {
		t.Errorf("the field is taken, and the object %s", a.Objects[0].Result)
	}
}

// TestEdits resolves the conflict of the README in both ways. All other lines stay.
func TestEdits(t *testing.T) {
	for _, share := range []bool{true, false} {
		x := *examples(t)[0].Examples[0]
		o := ask(t, x.request()).Objects[0]
		edited := ask(t, playground.Request{Edit: &playground.Edit{
			Config: x.Config, Live: x.Live, Object: o.Name, Path: o.Conflicts[0].Path, Share: share,
		}})
		if len(edited.Problems) > 0 {
			t.Fatal(edited.Problems)
		}
		want := regexp.MustCompile(`(?m)^ +image: .*\n`).ReplaceAllString(x.Config, "")
		if share {
			want = strings.Replace(x.Config, "web:1.5.0", "web:1.4.2", 1)
		} else { // a comment above a field goes with it
			want = regexp.MustCompile(`(?m)^ +# a release .*\n`).ReplaceAllString(want, "")
		}
		if edited.Text != want {
			t.Errorf("share %t: the configuration is\n%s\nwant\n%s", share, edited.Text, want)
		}
		x.Config = edited.Text
		if o = ask(t, x.request()).Objects[0]; o.Result != "stored" {
			t.Errorf("share %t: the object is then %s", share, o.Result)
		}
	}
}

// TestOddRequests sends what no page sends, and texts that cannot be read. Each has an answer with a problem.
func TestOddRequests(t *testing.T) {
	for _, request := range []string{
		``, `[]`, `{"now": 1}`, `{"apply": {"manager": ""}}`, `{"apply": {"manager": "m", "config": ": :\n- a"}}`,
		`{"apply": {"manager": "m", "config": "{kind: A, apiVersion: b/v1, metadata: {name: a}}"}}`,
		`{"apply": {"manager": "m", "live": "a: [", "config": "{kind: Pod, apiVersion: v1, metadata: {name: a}}"}}`,
		`{"apply": {"manager": "m", "fields": ["a["], "config": "{kind: Pod, apiVersion: v1, metadata: {name: a}}"}}`,
		`{"history": {"text": "steps: 1"}}`, `{"definitions": "a: [", "history": {"text": "steps: [{manager: a, object: {kind: Pod, apiVersion: v1, metadata: {name: a}}}]"}}`,
		`{"edit": {"path": ".a", "object": "Pod a"}}`,
		`{"edit": {"path": "[", "object": "Pod a", "config": "{kind: Pod, apiVersion: v1, metadata: {name: a}}", "live": "{kind: Pod, apiVersion: v1, metadata: {name: a}}"}}`,
	} {
		var a answer
		if err := json.Unmarshal(playground.Do([]byte(request)), &a); err != nil {
			t.Fatal(err)
		}
		if len(a.Problems) == 0 {
			t.Errorf("%s has no problem", request)
		}
	}
	if a := ask(t, playground.Request{Apply: &playground.Apply{Manager: "m"}}); len(a.Problems) > 0 || len(a.Objects) > 0 {
		t.Errorf("the empty page has %+v", a)
	}
}

// BenchmarkEdit measures the answer to one edit of a Deployment.
func BenchmarkEdit(b *testing.B) {
	groups, err := gather(os.DirFS(root))
	if err != nil {
		b.Fatal(err)
	}
	request, err := json.Marshal(groups[0].Examples[0].request())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		playground.Do(request)
	}
}
