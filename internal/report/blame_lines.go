package report

import (
	"iter"
	"slices"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// Blamed is an object with its lines.
type Blamed struct {
	*manifest.Object
	Lines []Line
}

// Line is one line of the YAML of an object.
type Line struct {
	text   string
	number int // counted from 1
	// parts are what begins in the line, each inside the one before. The lines that a long text goes on in have none.
	parts []blamePart
	// continues is how many lines above the value in this line begins: 0 in all but those lines.
	continues int
	// block reports whether a block of text begins here: the lines that follow have no room for comments.
	block bool
}

// blamePart is a member or item of an object with all who own it.
type blamePart struct {
	path    fieldpath.Path
	at      notice.Position // where it was read
	kind    string          // leaf, item, atomic; or object, list: their members and items are owned one by one
	owners  []ownership.Owner
	through fieldpath.Path // see [ownership.Owned]
}

// The kinds of parts that are owned only in that a write has added them, with what is in them.
const (
	objectKind = "object"
	listKind   = "list"
)

func (p blamePart) isContainer() bool { return p.kind == objectKind || p.kind == listKind }

// Annotate returns the lines of the YAML of o, whose endpoint is e. The error says which entries cannot be read: they own
// nothing in the lines.
func Annotate(o *manifest.Object, e *types.Endpoint, showSecrets bool) ([]Line, error) {
	if !showSecrets {
		shown := *o
		shown.Object, _ = MaskObjects(o.Object, o.Object)
		o = &shown
	}
	versions := &ownership.Versions{Types: e.Versions}
	owned, err := ownership.Owners(o.Object, e.Typ, versions)
	next, stop := iter.Pull(owned)
	defer stop()
	text := yaml.Append(nil, o.Content)
	docs, parseErr := yaml.Parse("", text)
	if parseErr != nil {
		return nil, parseErr
	}
	w := annotator{Object: o, next: next, doc: docs[0], containers: containerOwners(o, e)}
	for line := range strings.Lines(string(text)) {
		w.lines = append(w.lines, Line{text: strings.TrimSuffix(line, "\n"), number: len(w.lines) + 1})
	}
	w.advance()
	w.inside(o.Content)
	for i := 1; i < len(w.lines); i++ {
		if len(w.lines[i].parts) == 0 {
			w.lines[i].continues = w.lines[i-1].continues + 1
		}
	}
	return w.lines, err
}

// annotator walks an object beside what is known of its owners, which comes in the same order.
type annotator struct {
	*manifest.Object
	next       func() (ownership.Owned, bool)
	owned      ownership.Owned // what comes next; without a path when nothing does
	doc        yaml.Document
	containers map[string][]ownership.Owner
	lines      []Line

	steps []any
	path  fieldpath.Path
}

func (w *annotator) advance() { w.owned, _ = w.next() }

// inside adds what is in v.
func (w *annotator) inside(v value.Value) {
	switch v.Kind() {
	case value.KindObject:
		for name, member := range v.Members() {
			w.part(name, fieldpath.Field(name), member)
		}
	case value.KindList:
		for i := range v.Len() {
			w.part(i, fieldpath.Index(i), v.Item(i))
		}
	}
}

// part adds v, the member or item that step leads to, and what is in it. e is its element in the path if it turns out that
// nobody else knows a better one.
func (w *annotator) part(step any, e fieldpath.Element, v value.Value) {
	depth := len(w.path)
	w.steps, w.path = append(w.steps, step), append(w.path, e)
	p := blamePart{kind: objectKind, at: w.Key(w.steps...)}
	if v.Kind() == value.KindList {
		p.kind = listKind
	}
	// The first thing that is owned at v or in it is what comes next: it is v itself if it is as deep as v.
	if path := w.owned.Path; len(path) > depth {
		copy(w.path, path[:depth+1])
		within := w.owned.Through != nil && len(w.owned.Through) <= depth
		if len(path) == depth+1 || within {
			p.owners, p.through = w.owned.Owners, w.owned.Through
		}
		if len(path) == depth+1 {
			p.kind = w.owned.Part
			w.advance()
		}
	}
	p.path = slices.Clone(w.path)
	if p.isContainer() && p.through == nil {
		p.owners = w.containers[p.path.Text()]
	}
	w.add(p, v)
	w.inside(v)
	w.steps, w.path = w.steps[:depth], w.path[:depth]
}

// add puts p, whose value is v, into the line where it begins.
func (w *annotator) add(p blamePart, v value.Value) {
	line, _ := w.doc.KeyPosition(w.steps...)
	at := &w.lines[line-1]
	at.parts = append(at.parts, p)
	if v.Kind() != value.KindString {
		return
	}
	line, column := w.doc.Position(w.steps...)
	runes := []rune(w.lines[line-1].text)
	at.block = column <= len(runes) && isBlockHeader(string(runes[column-1:]))
}

// isBlockHeader reports whether text is what a block of text begins with: its style, and how it is indented and ends.
func isBlockHeader(text string) bool {
	return text != "" && strings.ContainsAny(text[:1], "|>") && strings.Trim(text[1:], "+-0123456789") == ""
}

// containerOwners returns, by path, who owns objects and lists whose parts are owned one by one: whoever added them in an
// update. Entries of other versions count where versions differ in nothing but their name.
func containerOwners(o *manifest.Object, e *types.Endpoint) map[string][]ownership.Owner {
	out := map[string][]ownership.Owner{}
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
			out[path.Text()] = append(out[path.Text()], owner)
		}
	}
	return out
}

// nodes yields all parts of the lines in order.
func nodes(lines []Line) iter.Seq[blamePart] {
	return func(yield func(blamePart) bool) {
		for _, line := range lines {
			for _, p := range line.parts {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// OwnedBy returns the lines in which something begins that the managers own, and those around them.
func OwnedBy(lines []Line, managers []string) []Line {
	wanted := map[string]bool{}
	for p := range nodes(lines) {
		if slices.ContainsFunc(p.owners, func(o ownership.Owner) bool { return slices.Contains(managers, o.Manager.Name) }) {
			for i := range p.path {
				wanted[p.path[:i+1].Text()] = true
			}
		}
	}
	var out []Line
	keep := false
	for _, line := range lines {
		if line.continues == 0 {
			keep = slices.ContainsFunc(line.parts, func(p blamePart) bool { return wanted[p.path.Text()] })
		}
		if keep {
			out = append(out, line)
		}
	}
	return out
}
