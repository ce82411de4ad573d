package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/folder"
	"github.com/deed-project/deed/internal/yaml"
)

// Loader reads the objects in files.
type Loader struct {
	*notice.Log
	In       io.Reader
	Archived map[string][]byte // files that are not on disk, by name
	Secrets  *secret.Rules     // what objects may show of their content; reading objects adds to it
	Jobs     int               // how many objects are processed concurrently; 0 means one for each processor
	Ignore   []string          // patterns of files that are not read, see [CheckIgnored]
	Timeout  time.Duration     // the time limit of a download; 0 means no limit
	keeps    bool              // whether copies of what is downloaded are kept

	// What takes large libraries, and is nil in programs that leave it out: see packages kustomize, download and archive.

	Kustomize func(dir string) ([]byte, error)                                 // builds a directory; the error is a [*MissingError], or may quote files
	Download  func(url string, limit time.Duration, keep bool) ([]byte, error) // returns the text at a URL; an error beside it is a warning
	Unpack    func(name string, data []byte) ([]*Text, error)                  // returns the manifests in an archive
}

// MissingError reports a missing file or directory that a kustomization names, or a missing kustomization.
type MissingError struct{ What string }

// Error names the missing file.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no %s", e.What) }

// With returns a loader that reports to log, for objects of the same run.
func (c *Loader) With(log *notice.Log) *Loader {
	return &Loader{Log: log, Jobs: c.Jobs, Secrets: c.Secrets}
}

// StdinName names standard input on the command line, and stdinShown in messages.
const (
	StdinName  = "-"
	stdinShown = "stdin"
)

// Read returns the texts of the named files in order, and of the files in the named directories, sorted by name. It reports and leaves out
// files that cannot be read. It also reports each name without any content, such as an empty pipe, because an unread input must not seem to
// be free of faults.
func (c *Loader) Read(names []string, recursive bool) []*Text { return c.read(names, recursive, "") }

// ReadLive is Read for stored objects. Its reports explain how to say that nothing is stored.
func (c *Loader) ReadLive(names []string, recursive bool) []*Text {
	return c.read(names, recursive, ": if nothing is stored, leave --live out, or give a List without items")
}

// read is Read with a hint for names without content.
func (c *Loader) read(names []string, recursive bool, hint string) []*Text {
	var texts []*Text
	before := c.Problems
	files := c.expand(names)
	if len(files) == 0 && len(names) > 0 && c.Problems == before {
		c.Problem(notice.InFile(names[0]), "nothing was read: --ignore leaves everything out")
	}
	for _, name := range files {
		if name == "" {
			c.Problem(notice.InFile("''"), "the name of a file is empty")
			continue
		}
		before := c.Problems
		found := c.readOne(name, recursive)
		if slices.ContainsFunc(found, (*Text).HasContent) {
			texts = append(texts, found...)
		} else if c.Problems == before {
			if name == StdinName {
				name = stdinShown
			}
			c.Problem(notice.InFile(shown(name)), "nothing was read: there is no document in here%s", hint)
		}
	}
	return texts
}

// Kustomized returns the texts that kustomize builds from the named directories, one for each. It reports and leaves out directories that
// cannot be built.
func (c *Loader) Kustomized(dirs []string) []*Text {
	var texts []*Text
	for _, dir := range dirs {
		if c.Kustomize == nil {
			c.Problem(notice.InFile(dir), "kustomizations are not built here")
			continue
		}
		data, err := c.Kustomize(dir)
		t := &Text{Name: dir + " (kustomize)", Data: data}
		var missing *MissingError
		switch {
		case errors.As(err, &missing):
			c.Problem(notice.InFile(dir), "kustomize cannot build this: there is no %s", missing.What)
		case err != nil && c.Secrets != nil && c.Secrets.Show:
			c.Problem(notice.InFile(dir), "kustomize cannot build this: %s", secret.Open.Error(err))
		case err != nil: // the error may quote the files
			c.Problem(notice.InFile(dir), "kustomize cannot build this: the reason may quote files with secrets, and is not shown without --show-secrets")
		case !t.HasContent():
			c.Problem(notice.InFile(dir), "nothing was read: kustomize builds no objects of this directory")
		default:
			texts = append(texts, t)
		}
	}
	return texts
}

// readOne returns the texts of one named file or directory.
func (c *Loader) readOne(name string, recursive bool) []*Text {
	if name == StdinName {
		data, err := io.ReadAll(c.In)
		if err != nil {
			c.Problem(notice.InFile(stdinShown), "%s", secret.Open.Error(err))
			return nil
		}
		return []*Text{{Name: stdinShown, Data: data}}
	}
	if data, ok := c.Archived[name]; ok {
		return []*Text{{Name: name, path: name, Data: data}}
	}
	if isURL(name) {
		t := c.fetch(name)
		switch {
		case t == nil:
			return nil
		case isArchive(name):
			return c.unpacked(t.Name, t.Data)
		}
		return []*Text{t}
	}
	var texts []*Text
	for _, file := range c.filesIn(name, recursive) {
		data, err := os.ReadFile(file)
		if err != nil {
			c.fileProblem(file, err)
			continue
		}
		if isArchive(file) {
			texts = append(texts, c.unpacked(file, data)...)
			continue
		}
		texts = append(texts, &Text{Name: file, path: file, Data: data})
	}
	return texts
}

// ReadKept is [Loader.Read] with everything below directories, and copies of what URLs lead to, which are kept for the next run.
func (c *Loader) ReadKept(names []string) []*Text {
	k := *c
	k.keeps = true
	return k.read(names, true, "")
}

// filesIn returns name itself if it is a file, whatever its extension, and the manifests in it if it is a directory.
func (c *Loader) filesIn(name string, recursive bool) []string {
	info, err := os.Stat(name)
	if err != nil {
		c.fileProblem(name, err)
		return nil
	}
	if !info.IsDir() {
		return []string{name}
	}
	before := c.Problems
	files := c.manifestsIn(name, recursive)
	if len(files) == 0 && c.Problems == before {
		hint := ""
		if !recursive {
			hint = "; -R looks into the directories in it"
		}
		c.Problem(notice.InFile(name), "no .yaml, .yml or .json files in this directory%s", hint)
	}
	return files
}

// manifestsIn returns the manifests in a directory, see [folder.Manifests]. It reports charts of Helm and leaves them out, because their
// templates are no manifests. Not so for [Loader.ReadKept], which also reads the definitions in a chart.
func (c *Loader) manifestsIn(name string, recursive bool) []string {
	var files, charts []string
	inChart := func(file string) bool {
		return slices.ContainsFunc(charts, func(dir string) bool {
			return dir == "." || strings.HasPrefix(file, dir+string(filepath.Separator))
		})
	}
	for file, err := range folder.Manifests(name, recursive) {
		if err != nil {
			c.fileProblem(name, err)
			continue
		}
		if c.ignores(file) || inChart(file) {
			continue
		}
		files = append(files, file)
		if !c.keeps && isChart(file) {
			chart := filepath.Dir(file)
			charts = append(charts, chart)
			c.Problem(notice.InFile(chart), "a chart of Helm is not read: deed helm plan RELEASE %s plans it, and helm template renders it", chart)
		}
	}
	return slices.DeleteFunc(files, inChart)
}

// isChart reports whether a file describes a chart of Helm.
func isChart(file string) bool {
	if filepath.Base(file) != "Chart.yaml" {
		return false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return false // which the reader of the file reports
	}
	documents, err := yaml.Parse(file, data)
	return err == nil && len(documents) == 1 && documents[0].Value.Get("kind").IsAbsent() && !documents[0].Value.Get("name").IsAbsent()
}

// fileProblem reports that the file called name cannot be read.
func (c *Loader) fileProblem(name string, err error) {
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		name, err = atPath.Path, atPath.Err
	}
	c.Problem(notice.InFile(name), "%s", secret.Open.Error(err))
}

// ParseProblem reports err, an error of [yaml.Parse], which has a position.
func (c *Loader) ParseProblem(err error) { c.Report(c.problemOf(err)) }

// problemOf returns the notice for an error of [yaml.Parse].
func (c *Loader) problemOf(err error) notice.Notice {
	n := notice.Notice{Class: notice.Unread, Text: c.Secrets.Unread(err)}
	var e *yaml.Error
	if errors.As(err, &e) {
		n.Where = notice.Position{File: e.File, Line: e.Line, Column: e.Column}
	}
	return n
}
