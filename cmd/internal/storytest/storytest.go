// Package storytest runs stories: archives with a list of commands, the files that they read, and their whole output. Each command sees the
// objects that the commands before it have stored.
package storytest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

var update = flag.Bool("update", false, "write what the stories come to into testdata; read the difference before you commit it")

// Run runs each testdata/NAME.txtar. Its comment has one command on each line; other lines begin with #:
//
//	[given] COMMAND ARGUMENT... NAME=VALUE,... NAME=
//
// The output of a given command is ignored; it must report nothing. The file live.yaml, if present, holds the stored objects at the start,
// crd.yaml defines kinds, and want is the expected output.
func Run(t *testing.T, commands map[string]func(*Story)) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runFile(t, file, commands) })
	}
}

func runFile(t *testing.T, file string, commands map[string]func(*Story)) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &Story{T: t, Files: map[string][]byte{}}
	for _, f := range archive.Files {
		s.Files[f.Name] = f.Data
	}
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s.read(line)
		run := commands[s.command]
		if run == nil {
			t.Fatalf("no command %q", s.command)
		}
		before := s.out.Len()
		s.Print("> %s", line)
		if run(s); s.log.Len() > 0 {
			s.Print("%s", bytes.TrimRight(s.log.Bytes(), "\n"))
		}
		if s.given {
			if s.log.Len() > 0 {
				t.Fatalf("%s: %s", line, s.log.Bytes())
			}
			s.out.Truncate(before)
		}
	}
	want := len(archive.Files) - 1
	switch {
	case want < 0 || archive.Files[want].Name != "want":
		t.Fatal("the last file must be called want")
	case *update:
		archive.Files[want].Data = s.out.Bytes()
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	case !bytes.Equal(s.out.Bytes(), archive.Files[want].Data):
		t.Errorf("%s", diff.Diff("want", archive.Files[want].Data, "got", s.out.Bytes()))
	}
}

// Story is an archive with the state of its commands.
type Story struct {
	*testing.T
	Files   map[string][]byte
	Args    []string            // the arguments of the current command, without its words
	Words   map[string][]string // NAME=VALUE,... of the current command
	command string
	given   bool // whether to ignore the output of the command
	out     bytes.Buffer
	log     bytes.Buffer // the log of the current command
}

// read starts a command.
func (s *Story) read(line string) {
	line, s.given = strings.CutPrefix(line, "given ")
	fields := strings.Fields(line)
	s.command, s.Args, s.Words = fields[0], nil, map[string][]string{}
	s.log.Reset()
	for _, field := range fields[1:] {
		if name, values, ok := strings.Cut(field, "="); ok && !strings.HasPrefix(name, ".") {
			s.Words[name] = strings.Split(values, ",")
		} else {
			s.Args = append(s.Args, field)
		}
	}
}

// Print adds a line to the output of the story.
func (s *Story) Print(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// Word returns the value of a word, empty if the command lacks the word.
func (s *Story) Word(name string) string { return strings.Join(s.Words[name], ",") }

// Has reports whether the command has a word.
func (s *Story) Has(name string) bool { return s.Words[name] != nil }

// Library returns a library that reads the files of the story. Its messages follow the output of the command.
func (s *Story) Library() *types.Library {
	c := types.NewLibrary(&manifest.Loader{Log: notice.NewLog(&s.log, nil), Archived: s.Files, Secrets: &secret.Rules{}, Jobs: 1})
	c.Validation = validation.Server{}
	return c
}

// Flags returns the schemas: those of crd.yaml, unless the words crd, openapi, schema, type, schemaless and verbose name others.
func (s *Story) Flags() types.Flags {
	f := types.Flags{
		Crds: s.Words["crd"], OpenAPI: s.Words["openapi"], Schema: s.Word("schema"), TypeName: s.Word("type"),
		Schemaless: s.Has("schemaless"), Verbose: s.Has("verbose"),
	}
	if f.Crds == nil && s.Files["crd.yaml"] != nil {
		f.Crds = []string{"crd.yaml"}
	}
	return f
}

// Types returns the types in the schemas of the story.
func (s *Story) Types(c *types.Library) *types.Types {
	out := c.NewTypes(s.Flags())
	if out == nil {
		s.Fatalf("no types: %s", s.log.Bytes())
	}
	return out
}

// Config returns the configuration of field managers for the word through. The time is always 2026-01-01.
func (s *Story) Config() managedfields.Config {
	return managedfields.Config{Subresource: s.Word("through"), Now: func() time.Time { return time.Unix(1767225600, 0) }}
}

// Live returns the stored objects.
func (s *Story) Live(c *types.Library) *manifest.Live {
	if len(s.Files["live.yaml"]) == 0 {
		return manifest.NewLive(nil)
	}
	return c.Index(c.Read([]string{"live.yaml"}, false), manifest.Everything)
}

// Each calls f for each object of the command's file, with its endpoint.
func (s *Story) Each(c *types.Library, f func(*manifest.Object, *types.Endpoint)) {
	all := s.Types(c)
	all.Served, all.Bare = true, s.Has("bare")
	for _, o := range c.Objects(c.Read(s.Args[:1], false)) {
		if e, ok := c.TypeOf(o, all, s.Config()); ok {
			f(o, e)
		}
	}
}

// Workload returns the workload that writes the objects of the command's file.
func (s *Story) Workload(c *types.Library) *dryrun.Workload {
	all := s.Types(c)
	all.Bare = s.Has("bare")
	given := c.Stream(c.Read(s.Args, false), manifest.Everything)
	w := dryrun.NewWorkload(c, all, s.Config(), given, s.Live(c))
	w.Namespace, w.Name = s.Word("namespace"), s.Word("name")
	return w
}

// Apply returns the apply for the words as, force, force-field, force-manager, rules and migrate, which is empty or "any". It returns nil,
// with the reason reported, if they are malformed.
func (s *Story) Apply(c *types.Library) *dryrun.Apply {
	flags := dryrun.ForceFlags{All: s.Has("force"), Fields: s.Words["force-field"], Managers: s.Words["force-manager"]}
	if s.Has("rules") {
		if flags.Rules = dryrun.ReadRules(c.Loader, s.Word("rules")); flags.Rules == nil {
			return nil
		}
	}
	force, err := flags.Force()
	if err != nil {
		s.Print("error: %v", err)
		return nil
	}
	how := &dryrun.Apply{Manager: s.Word("as"), Force: force}
	if s.Has("migrate") {
		how.Migrate = map[string]dryrun.Migrators{"": dryrun.KubectlAlone, "any": dryrun.AnyManager}[s.Word("migrate")]
	}
	return how
}

// Object prints the changes from before to o, or the whole object if before is absent, and the owners of o.
func (s *Story) Object(before, o managedfields.Object) {
	old, now := []byte(nil), yaml.Append(nil, o.Content)
	if !before.Content.IsAbsent() {
		old = yaml.Append(nil, before.Content)
	}
	switch {
	case bytes.Equal(old, now):
		s.Print("  the object stays as it was")
	case old == nil:
		s.indent(now)
	default: // without its heading of three lines
		s.indent(bytes.SplitN(diff.Diff("before", old, "after", now), []byte("\n"), 4)[3])
	}
	s.owners(o)
}

func (s *Story) indent(text []byte) {
	for line := range bytes.Lines(text) {
		s.Print("    %s", bytes.TrimRight(line, "\n"))
	}
}

func (s *Story) owners(o managedfields.Object) {
	owners, err := managedfields.Decode(o.Entries)
	if err != nil {
		s.Fatal(err)
	}
	for e := range owners.All() {
		s.Print("  %v owns in %s:", e.Manager, e.APIVersion)
		for path := range e.Fields.All() {
			s.Print("    %s", path.Text())
		}
	}
}

// Store stores o.
func (s *Story) Store(o managedfields.Object) {
	v, err := o.Value()
	if err != nil {
		s.Fatal(err)
	}
	docs, err := yaml.Parse("live.yaml", s.Files["live.yaml"])
	if err != nil {
		s.Fatal(err)
	}
	var all [][]byte
	for _, doc := range docs {
		if old, err := managedfields.ObjectOf(doc.Value); err != nil || manifest.IDOf(old) != manifest.IDOf(o) {
			all = append(all, yaml.Append(nil, doc.Value))
		}
	}
	s.Files["live.yaml"] = bytes.Join(append(all, yaml.Append(nil, v)), []byte("---\n"))
}

// Show returns v as JSON, shortened if it is long.
func Show(v value.Value) string {
	const most = 60
	text := v.String()
	switch {
	case v.IsAbsent():
		return "nothing"
	case len(text) > most:
		return text[:most] + "..."
	}
	return text
}

// Names lists managers.
func Names(all []merge.Manager) string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.String()
	}
	return "[" + strings.Join(out, ", ") + "]"
}
