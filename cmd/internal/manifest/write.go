package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
)

// Rewriter writes outcomes back into the files of the live objects. It writes only in [Rewriter.Flush], and each file completely or not at
// all. Until then it holds outcomes as text. It parses a file when it writes it, a large one document by document.
type Rewriter struct {
	*Loader
	notes io.Writer // receives the notes about written objects
	names []string  // the live files and directories, where new objects go
	dry   bool      // whether to write nothing in the end
	files map[string]*rewrite
	order []*rewrite
}

// rewrite is the pending change of one file.
type rewrite struct {
	text     *Text
	mode     fs.FileMode         // the mode of a new file
	outcomes map[int][]outcomeAt // by the numbers of the documents
	created  [][]byte            // new documents
	notes    []string            // printed when the file is written
}

// outcomeAt is the outcome of the object at a place in a document.
type outcomeAt struct {
	at   notice.Position
	path []any
	json []byte
}

// NewRewriter returns a rewriter for live objects in the files and directories called names, which may be patterns.
func (c *Loader) NewRewriter(names []string, notes io.Writer, dry bool) (*Rewriter, error) {
	switch {
	case len(names) == 0:
		return nil, errors.New("--write needs --live, the file or directory to write to")
	case slices.Contains(names, StdinName):
		return nil, errors.New("--write cannot write to standard input: name a file with --live")
	case slices.ContainsFunc(names, isURL):
		return nil, errors.New("--write cannot write to a URL: name a file with --live")
	}
	if names = c.expand(names); len(names) == 0 {
		return nil, errors.New("--write: --live leads to no file")
	}
	return &Rewriter{Loader: c, notes: notes, names: names, dry: dry, files: map[string]*rewrite{}}, nil
}

// Existing returns the names without files that do not exist yet and without empty directories.
func (w *Rewriter) Existing(recursive bool) []string {
	return slices.DeleteFunc(slices.Clone(w.names), func(name string) bool {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			return len(w.manifestsIn(name, recursive)) == 0
		}
		return errors.Is(err, fs.ErrNotExist)
	})
}

func (w *Rewriter) file(t *Text) *rewrite {
	f := w.files[t.path]
	if f == nil {
		f = &rewrite{text: t, outcomes: map[int][]outcomeAt{}}
		w.files[t.path] = f
		w.order = append(w.order, f)
	}
	return f
}

// Set replaces live by outcome. note is printed when it is written.
func (w *Rewriter) Set(live *Object, outcome managedfields.Object, note string) error {
	v, err := outcome.Value()
	if err != nil {
		return err
	}
	f := w.file(live.Part.Text)
	f.outcomes[live.Number] = append(f.outcomes[live.Number], outcomeAt{live.At(), live.path(), v.AppendJSON(nil)})
	f.notes = append(f.notes, note)
	return nil
}

// Create adds a new object to the one live file, or to a new file in the one live directory.
func (w *Rewriter) Create(id ID, outcome managedfields.Object, note string) error {
	v, err := outcome.Value()
	if err != nil {
		return err
	}
	if len(w.names) > 1 {
		return secret.Errorf("it is not stored yet, and there are %d --live to write it to", len(w.names))
	}
	f, err := w.newFile(id, w.names[0])
	if err != nil {
		return err
	}
	f.created = append(f.created, yaml.Append(nil, v))
	if isBracket(f.text.Data) {
		f.created[len(f.created)-1] = append(v.AppendJSON(nil), '\n')
	}
	f.notes = append(f.notes, note)
	return nil
}

// newFile returns the file for a new object, given the name of a file or directory.
func (w *Rewriter) newFile(id ID, name string) (*rewrite, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		if f := w.files[name]; f != nil {
			return f, nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return w.file(&Text{Name: name, path: name, Data: data}), nil
	case err == nil:
		name = w.unused(name, id)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f := w.file(&Text{Name: name, path: name})
	f.mode = 0o644
	return f, nil
}

// unused returns the name of a new file in dir for the object.
func (w *Rewriter) unused(dir string, id ID) string {
	base := strings.ToLower(id.Kind + "-" + id.Namespace + "-" + id.Name)
	if id.Namespace == "" {
		base = strings.ToLower(id.Kind + "-" + id.Name)
	}
	unsafe := regexp.MustCompile(`[^a-z0-9.-]`) // the characters of object names that file names do not get
	base = filepath.Join(dir, unsafe.ReplaceAllString(base, "_"))
	for i, name := 2, base+".yaml"; ; i, name = i+1, fmt.Sprintf("%s-%d.yaml", base, i) {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) && w.files[name] == nil {
			return name
		}
	}
}
