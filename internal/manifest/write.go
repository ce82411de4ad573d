package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Rewriter puts outcomes back into the files that live objects were read from. Nothing is written before flush, which
// writes each file whole or not at all. Until then it holds outcomes as text. It parses a file when it writes it, a large one
// document by document.
type Rewriter struct {
	*Loader
	notes io.Writer // where it says what was written
	names []string  // of the live files and directories, where new objects go
	dry   bool      // nothing is written in the end
	files map[string]*rewrite
	order []*rewrite
}

// rewrite is what is to become of one file.
type rewrite struct {
	text     *Text
	mode     fs.FileMode         // of a file that is new
	outcomes map[int][]outcomeAt // by the numbers of the documents
	created  [][]byte            // new documents
	notes    []string            // what to say when the file is written
}

// outcomeAt is the outcome for the object that was read from somewhere in a document.
type outcomeAt struct {
	at   notice.Position
	path []any
	json []byte
}

// NewRewriter returns the rewriter for live objects in the files and directories called names.
func (c *Loader) NewRewriter(names []string, notes io.Writer, dry bool) (*Rewriter, error) {
	switch {
	case len(names) == 0:
		return nil, errors.New("--write needs --live, the file or directory to write to")
	case slices.Contains(names, StdinName):
		return nil, errors.New("--write cannot write to standard input: name a file with --live")
	}
	return &Rewriter{Loader: c, notes: notes, names: names, dry: dry, files: map[string]*rewrite{}}, nil
}

// Existing returns the names, without those of files that do not exist yet and of directories without any.
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

// Set makes outcome what live becomes. note is printed when it is written.
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

// Create adds an object that is not stored yet: to the one live file, or to the one live directory in a file of its own.
func (w *Rewriter) Create(id ID, outcome managedfields.Object, note string) error {
	v, err := outcome.Value()
	if err != nil {
		return err
	}
	if len(w.names) > 1 {
		return fmt.Errorf("it is not stored yet, and there are %d --live to write it to", len(w.names))
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

// newFile returns the file that a new object goes to, given the name of a file or directory.
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

// unsafeInFile are the characters of names that do not go into the names of files.
var unsafeInFile = regexp.MustCompile(`[^a-z0-9.-]`)

// unused returns the name of a file in dir for the object.
func (w *Rewriter) unused(dir string, id ID) string {
	base := strings.ToLower(id.Kind + "-" + id.Namespace + "-" + id.Name)
	if id.Namespace == "" {
		base = strings.ToLower(id.Kind + "-" + id.Name)
	}
	base = filepath.Join(dir, unsafeInFile.ReplaceAllString(base, "_"))
	for i, name := 2, base+".yaml"; ; i, name = i+1, fmt.Sprintf("%s-%d.yaml", base, i) {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) && w.files[name] == nil {
			return name
		}
	}
}

// Flush writes the files, and prints the notes of those that it could write. It reports what it could not, and removes what
// runs that were killed have left beside the files.
func (w *Rewriter) Flush() {
	if !w.dry {
		w.removeLeftovers(w.order)
	}
	for _, f := range w.order {
		data, err := w.content(f)
		if err == nil && !w.dry {
			err = f.write(data)
		}
		if err != nil {
			w.Problem(notice.InFile(f.text.Name), "not written: %v", err)
			if !errors.Is(err, errChanged) && !errors.Is(err, yaml.ErrText) {
				w.Raise(notice.ExitInternal)
			}
			continue
		}
		for _, note := range f.notes {
			if note != "" {
				fmt.Fprintln(w.notes, note)
			}
		}
	}
}

// content returns what f is to hold.
func (w *Rewriter) content(f *rewrite) ([]byte, error) {
	out, err := w.outcomes(f)
	if err != nil {
		return nil, err
	}
	for _, doc := range f.created {
		if n := len(out); n > 0 && out[n-1] != '\n' {
			out = append(out, '\n')
		}
		if len(bytes.TrimSpace(out)) > 0 && !isBracket(out) {
			out = append(out, "---\n"...)
		}
		out = append(out, doc...)
	}
	return out, nil
}

// outcomes returns the text of f with the outcomes in place of what they came from. It holds one document of a large text at a
// time, unless one has a defect.
func (w *Rewriter) outcomes(f *rewrite) ([]byte, error) {
	if len(f.outcomes) == 0 {
		return slices.Clone(f.text.Data), nil
	}
	t := &Text{Name: f.text.Name, path: f.text.path, Data: f.text.Data, repeating: f.text.repeating}
	if len(t.Data) >= largeText && !isBracket(t.Data) {
		if out, err := w.parts(f, t.split()); !errors.Is(err, errDefective) {
			return out, err
		}
	}
	t.parseAll()
	return w.parts(f, t.Parts)
}

// errDefective says that a part cannot be parsed by itself.
var errDefective = errors.New("a document has a defect")

// parts returns the text of f, which consists of parts, with the outcomes. Parts that are not parsed yet are, one at a time; then
// the error may be [errDefective].
func (w *Rewriter) parts(f *rewrite, parts []*part) (out []byte, err error) {
	number := 0
	for _, p := range parts {
		parsed := *p
		if parsed.Docs == nil && parsed.Err == nil {
			if parsed.parse(); parsed.Err != nil {
				return nil, errDefective
			}
		}
		data, err := w.part(&parsed, f.outcomes, number)
		if err != nil {
			return nil, err
		}
		if number += len(parsed.Docs); parsed.Err != nil {
			number++ // as it was counted when it was read
		}
		out = append(out, data...)
	}
	return out, nil
}

// part returns the text of p, in front of which there are so many documents, with the outcomes in place of what they came from.
func (w *Rewriter) part(p *part, outcomes map[int][]outcomeAt, before int) ([]byte, error) {
	var replacements []yaml.Replacement
	var from []notice.Position
	for i, doc := range p.Docs {
		changes := outcomes[before+i+1]
		if len(changes) == 0 {
			continue
		}
		var c change
		for _, o := range changes {
			v, err := value.Parse(o.json)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", o.at, err)
			}
			if was := ValueAt(doc.Value, o.path); !was.Get("metadata", "name").Equal(v.Get("metadata", "name")) {
				return nil, fmt.Errorf("%v: the object that was read there is not found again", o.at)
			}
			c.add(o.path, v)
		}
		replacements = append(replacements, yaml.Replacement{Document: doc, Value: c.apply(doc.Value)})
		from = append(from, changes[0].at)
	}
	if len(replacements) == 0 {
		return p.data, nil
	}
	data, reprinted, err := yaml.Rewrite(p.data, replacements...)
	for _, i := range reprinted {
		w.Warn(from[i], "this document is printed anew, without comments, because its text could not be edited")
	}
	return data, err
}

// change is what becomes of a value: another one, or that of some of its parts.
type change struct {
	whole value.Value
	parts map[any]*change // by the name of a member or the index of an item
}

func (c *change) add(path []any, v value.Value) {
	for _, step := range path {
		if c.parts == nil {
			c.parts = map[any]*change{}
		}
		if c.parts[step] == nil {
			c.parts[step] = new(change)
		}
		c = c.parts[step]
	}
	c.whole = v
}

// apply returns old with the changes.
func (c *change) apply(old value.Value) value.Value {
	if !c.whole.IsAbsent() {
		return likeItem(old, c.whole)
	}
	if old.Kind() == value.KindList {
		items := slices.Collect(old.Items())
		for i := range items {
			if part := c.parts[i]; part != nil {
				items[i] = part.apply(items[i])
			}
		}
		return value.List(items...)
	}
	for name, member := range old.Members() {
		if part := c.parts[name]; part != nil {
			old = old.With(name, part.apply(member))
		}
	}
	return old
}

// likeItem returns v without what the list around it says of each item, as old has it: see [itemOf].
func likeItem(old, v value.Value) value.Value {
	if old.Get("kind").IsAbsent() && old.Get("apiVersion").IsAbsent() {
		return v.With("kind", value.Value{}).With("apiVersion", value.Value{})
	}
	return v
}
