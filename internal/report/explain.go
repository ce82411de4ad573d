package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/blame"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/secret"
	"github.com/deed-project/deed/internal/selector"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Explanation is what there is to say about a path.
type Explanation struct {
	Object     *manifest.Ref `json:"object,omitempty"`
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Path       string        `json:"path"`
	Line       int           `json:"line,omitempty"` // of the file
	Value      *value.Value  `json:"value,omitempty"`
	Type       string        `json:"type"`
	Topology   string        `json:"topology"`
	Declared   string        `json:"declaredIn"`
	Source     string        `json:"source"`
	Owners     []ownerJSON   `json:"owners"`
	Through    string        `json:"through,omitempty"` // the atomic list or object whose owners they are
	Above      []aboveJSON   `json:"above"`
	Fields     []string      `json:"fields,omitempty"` // that objects, or the items of lists, have
	Below      []string      `json:"below,omitempty"`  // who owns how much of what is inside
	Rules      []string      `json:"rules"`

	title, where, shown string
	holders             []manifest.Holder
}

// aboveJSON is a list or object that the path leads through.
type aboveJSON struct {
	Path     string      `json:"path"`
	Topology string      `json:"topology"`
	Owners   []ownerJSON `json:"owners"`
}

// ExplainType explains in the type of a kind what s says as a path. A name at its end may have dots in it.
func ExplainType(e *types.Endpoint, gvk schema.GVK, s selector.Selector) (*Explanation, error) {
	path, err := fieldpath.ParsePath(s.String())
	if err != nil {
		return nil, err
	}
	w, err := types.Follow(e.Typ, value.Value{}, false, path)
	for n := len(path) - 1; err != nil && n > 0; n-- {
		if longer, tryErr := types.Follow(e.Typ, value.Value{}, false, joinNames(path, n)); tryErr == nil {
			w, err = longer, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	x := newExplanation(e, gvk, w)
	x.title = fmt.Sprintf("%s %s: %s", gvk.APIVersion(), gvk.Kind, x.Path)
	x.Rules = rulesOf(w, w.Atomic(), nil)
	return x, nil
}

// joinNames returns path with the names from the n-th element on made one, with dots in it; path itself if any is no name.
func joinNames(path fieldpath.Path, n int) fieldpath.Path {
	var names []string
	for _, e := range path[n-1:] {
		if e.Kind() != fieldpath.KindField {
			return path
		}
		names = append(names, e.Name())
	}
	return append(slices.Clone(path[:n-1]), fieldpath.Field(strings.Join(names, ".")))
}

func newExplanation(e *types.Endpoint, gvk schema.GVK, w types.Way) *Explanation {
	last := w[len(w)-1]
	x := &Explanation{
		APIVersion: gvk.APIVersion(), Kind: gvk.Kind, Path: w.Text(), Type: types.TypeText(last.Type), Topology: types.Topology(last.Type),
		Source: e.From, Declared: w.Declared(e.Typ), Owners: []ownerJSON{}, Above: []aboveJSON{},
	}
	atomic := w.Atomic()
	for i := range w[:len(w)-1] {
		above := aboveJSON{w[:i+1].Text(), types.Topology(w[i].Type), []ownerJSON{}}
		if atomic > 0 && i >= atomic {
			above.Topology = "part of " + w[:atomic].Text()
		}
		x.Above = append(x.Above, above)
	}
	if atomic > 0 {
		x.Topology = "part of " + w[:atomic].Text() + ", which is one value"
	}
	inside := last.Type
	if inside.List() != nil {
		inside = inside.List().Element()
	}
	if m := inside.Map(); m != nil {
		for _, f := range m.Fields() {
			x.Fields = append(x.Fields, f.Name)
		}
	}
	return x
}

// ExplainObject explains the fields of o that s selects. Where o has none of them, s is a path, which may lead to what is not
// set, and leave out the item of a list that has only one.
func ExplainObject(c *types.Library, o *manifest.Object, e *types.Endpoint, s selector.Selector) ([]*Explanation, error) {
	paths, err := s.In(o.Content)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		path, err := fieldpath.ParsePath(s.String())
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	lines, linesErr := blame.Annotate(o, e, false)
	parts := map[string]blame.Part{}
	for p := range blame.Parts(lines) {
		parts[p.Path.Text()] = p
	}
	var all []*Explanation
	for _, path := range paths {
		w, err := types.Follow(e.Typ, o.Content, true, path)
		if err != nil {
			return nil, err
		}
		all = append(all, explainWay(c, o, e, w, lines, parts))
	}
	c.EntryProblems(o, linesErr)
	return all, nil
}

// explainWay explains what w leads to in o, whose lines have parts.
func explainWay(c *types.Library, o *manifest.Object, e *types.Endpoint, w types.Way, lines []blame.Line, parts map[string]blame.Part) *Explanation {
	x := newExplanation(e, o.GVK(), w)
	identity := o.Ref()
	x.Object, x.title = &identity, fmt.Sprintf("%v: %s", o, x.Path)
	for i := range x.Above {
		x.Above[i].Owners = ownersJSON(parts[x.Above[i].Path].Owners)
	}
	x.where = o.At().String() + " (the object; the field is not set)"
	if p, ok := parts[w.Path().Text()]; ok {
		x.Line, x.where, x.holders, x.Through = p.At.Line, p.At.String(), p.Owners, p.Through.Text()
	} else {
		x.holders = ReadFields(c, o).ownersAt(w.Path())
	}
	last := w[len(w)-1]
	x.shown = secret.Show(o, w.Path(), last.Value)
	if !last.Value.IsAbsent() && x.shown != secret.Masked {
		x.Value = &last.Value
	}
	x.Owners, x.Below = ownersJSON(x.holders), sharesText(lines, w.Path())
	x.Rules = rulesOf(w, w.Atomic(), x.holders)
	return x
}

// sharesText says who owns how many of the leaves below path.
func sharesText(lines []blame.Line, path fieldpath.Path) []string {
	var out []string
	for _, s := range blame.Shares(lines, path) {
		name := nobody
		if !s.Nobodys {
			name = wording.Manager(s.Manager.Name) + " " + operation(s.Manager)
		}
		out = append(out, wording.Plural(s.Values, "value")+": "+name)
	}
	return out
}

// Print writes the explanation as text.
func (x *Explanation) Print(out *bufio.Writer, paint Painter) {
	fmt.Fprintln(out, paint.Paint(strong, x.title))
	line := func(name string, texts ...string) {
		for _, text := range texts {
			fmt.Fprintf(out, "  %s %s\n", paint.Paint(Faint, fmt.Sprintf("%-9s", name)), text)
			name = ""
		}
	}
	if x.Object != nil {
		line("place", x.where)
		line("value", x.shown)
	}
	line("type", x.Type)
	line("topology", x.Topology)
	line("declared", x.Declared)
	line("schema", x.Source)
	if x.Object != nil {
		line("owners", x.ownerLines()...)
	}
	for i, above := range slices.Backward(x.Above) {
		name := ""
		if i == len(x.Above)-1 {
			name = "above"
		}
		line(name, above.Path+": "+above.Topology+ownedBySome(above.Owners))
	}
	below := wrapWords(x.Fields, 68)
	if len(below) > 0 {
		line("below", below...)
	}
	line("inside", x.Below...)
	line("rules", x.Rules...)
}

func ownedBySome(owners []ownerJSON) string {
	var names []string
	for _, w := range owners {
		names = append(names, wording.Manager(w.Manager))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return ""
	}
	return " (owned by " + strings.Join(names, ", ") + ")"
}

func (x *Explanation) ownerLines() []string {
	if len(x.holders) == 0 {
		return []string{nobody}
	}
	var lines []string
	for _, w := range x.holders {
		text := showHolder(w)
		if x.Through != "" {
			text += ", through " + x.Through
		}
		lines = append(lines, text)
	}
	return lines
}

// wrapWords joins words with commas, in lines that are no longer than width where that is possible.
func wrapWords(words []string, width int) []string {
	var lines []string
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
