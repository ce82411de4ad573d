// Package blame annotates the lines of objects with who owns what begins in them.
//
// Its nouns are [Line] and [Part]. How lines read is the business of package report.
package blame

import (
	"iter"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/ownership"
)

// Object is an object with its lines.
type Object struct {
	*manifest.Object
	Lines []Line
}

// Line is one line of the YAML of an object.
type Line struct {
	Text   string
	Number int // counted from 1
	// Parts are what begins in the line, each inside the one before. The lines that a long text
	// goes on in have none.
	Parts []Part
	// Continues is how many lines above the value in this line begins: 0 in all but those lines.
	Continues int
	// Block reports whether a block of text begins here: the lines that follow have no room for
	// comments.
	Block bool
}

// Part is a member or item of an object with all who own it.
type Part struct {
	Path    fieldpath.Path
	At      notice.Position // where it was read
	Kind    string          // leaf, item, atomic; or object, list: their members and items are owned one by one
	Owners  []ownership.Owner
	Through fieldpath.Path // see [ownership.Owned]
}

// Kinds of parts: objects and lists that are owned only in that a write has added them, with what
// is in them.
const (
	objectKind = "object"
	listKind   = "list"
)

// IsContainer reports whether p is owned only in that a write has added it, with what is in it.
func (p Part) IsContainer() bool { return p.Kind == objectKind || p.Kind == listKind }

// Annotate returns the lines of the YAML of o, whose endpoint is e, as it may be shown. The error says
// which entries cannot be read: they own nothing in the lines.
func Annotate(o *manifest.Object, e *types.Endpoint) ([]Line, error) {
	versions := &ownership.Versions{Types: e.Versions}
	owned, err := ownership.Owners(o.Object, e.Typ, versions)
	next, stop := iter.Pull(owned)
	defer stop()
	shown := o.View().Value(nil, o.Content)
	text := shown.AppendYAML(nil)
	docs, parseErr := yaml.Parse("", text)
	if parseErr != nil {
		return nil, parseErr
	}
	w := annotator{Object: o, next: next, doc: docs[0], containers: containerOwners(o, e)}
	for line := range strings.Lines(string(text)) {
		w.lines = append(w.lines, Line{Text: strings.TrimSuffix(line, "\n"), Number: len(w.lines) + 1})
	}
	w.advance()
	w.inside(shown)
	for i := 1; i < len(w.lines); i++ {
		if len(w.lines[i].Parts) == 0 {
			w.lines[i].Continues = w.lines[i-1].Continues + 1
		}
	}
	return w.lines, err
}

// annotator walks an object as it is shown beside what is known of its owners, which comes in the same
// order. What is hidden as a whole has owners inside that are passed over.
type annotator struct {
	*manifest.Object
	next       func() (ownership.Owned, bool)
	owned      ownership.Owned // what comes next; without a path when nothing does
	doc        yaml.Document
	containers map[secret.Key][]ownership.Owner
	lines      []Line

	steps []any
	path  fieldpath.Path
}

func (w *annotator) advance() { w.owned, _ = w.next() }

// inside adds what is in v.
func (w *annotator) inside(v secret.Value) {
	switch {
	case v.IsObject():
		for i := range v.Len() {
			name, member := v.Member(i)
			w.part(name, fieldpath.Field(name), member)
		}
	case v.IsList():
		for i := range v.Len() {
			w.part(i, fieldpath.Index(i), v.Item(i))
		}
	}
}

// part adds v, the member or item that step leads to, and what is in it. e is its element in the
// path if it turns out that nobody else knows a better one.
func (w *annotator) part(step any, e fieldpath.Element, v secret.Value) {
	depth := len(w.path)
	w.steps, w.path = append(w.steps, step), append(w.path, e)
	p := Part{Kind: objectKind, At: w.Key(w.steps...)}
	if v.IsList() {
		p.Kind = listKind
	}
	// The first thing that is owned at v or in it is what comes next: it is v itself if it is as
	// deep as v.
	if path := w.owned.Path; len(path) > depth {
		copy(w.path, path[:depth+1])
		within := w.owned.Through != nil && len(w.owned.Through) <= depth
		if len(path) == depth+1 || within {
			p.Owners, p.Through = w.owned.Owners, w.owned.Through
		}
		if len(path) == depth+1 {
			p.Kind = w.owned.Part
			w.advance()
		}
	}
	p.Path = slices.Clone(w.path)
	if p.IsContainer() && p.Through == nil {
		p.Owners = w.containers[secret.KeyOf(p.Path)]
	}
	w.add(p, v)
	w.inside(v)
	for len(w.owned.Path) > depth+1 && w.owned.Path.HasPrefix(w.path) {
		w.advance()
	}
	w.steps, w.path = w.steps[:depth], w.path[:depth]
}

// add puts p, whose value is v, into the line where it begins.
func (w *annotator) add(p Part, v secret.Value) {
	line, _ := w.doc.KeyPosition(w.steps...)
	at := &w.lines[line-1]
	at.Parts = append(at.Parts, p)
	if !v.IsString() {
		return
	}
	line, column := w.doc.Position(w.steps...)
	runes := []rune(w.lines[line-1].Text)
	at.Block = column <= len(runes) && isBlockHeader(string(runes[column-1:]))
}

// isBlockHeader reports whether text is what a block of text begins with: its style, and how it is
// indented and ends.
func isBlockHeader(text string) bool {
	return text != "" && strings.ContainsAny(text[:1], "|>") && strings.Trim(text[1:], "+-0123456789") == ""
}

// containerOwners returns, by path, who owns objects and lists whose parts are owned one by one:
// whoever added them in an update. Entries of other versions count where versions differ in nothing
// but their name.
func containerOwners(o *manifest.Object, e *types.Endpoint) map[secret.Key][]ownership.Owner {
	out := map[secret.Key][]ownership.Owner{}
	for i, entry := range o.Entries {
		if entry.APIVersion != o.GVK().APIVersion() && !e.Renamed {
			continue
		}
		set, err := entry.FieldsV1.Set()
		if err != nil {
			continue // ownership.Owners says so
		}
		owner := ownership.Owner{Index: i, Manager: manifest.Identity(entry), APIVersion: entry.APIVersion, Time: entry.Time}
		for path := range set.All() {
			key := secret.KeyOf(path)
			out[key] = append(out[key], owner)
		}
	}
	return out
}
