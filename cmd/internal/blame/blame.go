// Package blame annotates the lines of objects with the owners of the values that begin in them.
//
// Its nouns are [Line] and [Part]. Package report prints lines.
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
	// Parts holds the parts that begin in the line, each inside the one before. Continuation lines of a long text have none.
	Parts []Part
	// Continues is the number of lines above in which the value of this line begins: 0 except in continuation lines.
	Continues int
	// Block reports whether a block of text begins here: the following lines have no room for comments.
	Block bool
}

// Part is a member or item of an object with all its owners.
type Part struct {
	Path    fieldpath.Path
	At      notice.Position // its position in the input
	Kind    string          // leaf, item, atomic; or object, list: their members and items are owned one by one
	Owners  []ownership.Owner
	Through fieldpath.Path // see [ownership.Owned]
}

// The kinds of granular objects and lists. They are owned only if a write has added them with their content.
const (
	objectKind = "object"
	listKind   = "list"
)

// IsContainer reports whether p is a granular object or list, which is owned only if a write has added it with its content.
func (p Part) IsContainer() bool { return p.Kind == objectKind || p.Kind == listKind }

// Annotate returns the lines of the YAML of o with secrets masked. e is the endpoint of o. The error names unreadable entries, which own
// nothing in the lines.
func Annotate(o *manifest.Object, e *types.Endpoint) ([]Line, error) {
	versions := e.Conversions()
	owned, err := ownership.Owners(o.Object, e.Typ, &versions)
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

// annotator walks a masked object in parallel to its owners, which come in the same order. Owners inside a hidden value are skipped.
type annotator struct {
	*manifest.Object
	next       func() (ownership.Owned, bool)
	owned      ownership.Owned // the next owned value; without a path at the end
	doc        yaml.Document
	containers map[secret.Key][]ownership.Owner
	lines      []Line

	steps []any
	path  fieldpath.Path
}

func (w *annotator) advance() { w.owned, _ = w.next() }

// inside adds the parts inside v.
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

// part adds v, the member or item at step, and the parts inside v. e is its path element, unless an owner has a better one.
func (w *annotator) part(step any, e fieldpath.Element, v secret.Value) {
	depth := len(w.path)
	w.steps, w.path = append(w.steps, step), append(w.path, e)
	p := Part{Kind: objectKind, At: w.Key(w.steps...)}
	if v.IsList() {
		p.Kind = listKind
	}
	// The first owned value at or inside v is the next one. It is v itself if its path is as deep as v.
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

// add adds p, whose value is v, to the line in which it begins.
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

// isBlockHeader reports whether text is the header of a block of text: its style, indentation and ending.
func isBlockHeader(text string) bool {
	return text != "" && strings.ContainsAny(text[:1], "|>") && strings.Trim(text[1:], "+-0123456789") == ""
}

// containerOwners returns the owners of granular objects and lists by path: the managers that added them in an update. Entries of other
// versions count if versions differ only in their names.
func containerOwners(o *manifest.Object, e *types.Endpoint) map[secret.Key][]ownership.Owner {
	out := map[secret.Key][]ownership.Owner{}
	for i, entry := range o.Entries {
		if entry.APIVersion != o.GVK().APIVersion() && !e.Renamed {
			continue
		}
		set, err := entry.FieldsV1.Set()
		if err != nil {
			continue // ownership.Owners reports it
		}
		owner := ownership.Owner{Index: i, Manager: manifest.Identity(entry), APIVersion: entry.APIVersion, Time: entry.Time}
		for path := range set.All() {
			key := secret.KeyOf(path)
			out[key] = append(out[key], owner)
		}
	}
	return out
}
