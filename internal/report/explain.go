package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
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
	w, err := find(e.Typ, value.Value{}, false, path)
	for n := len(path) - 1; err != nil && n > 0; n-- {
		if longer, tryErr := find(e.Typ, value.Value{}, false, joinNames(path, n)); tryErr == nil {
			w, err = longer, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	x := newExplanation(e, gvk, w)
	x.title = fmt.Sprintf("%s %s: %s", gvk.APIVersion(), gvk.Kind, x.Path)
	x.Rules = rulesOf(w, atomicAbove(w), nil)
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

func newExplanation(e *types.Endpoint, gvk schema.GVK, w way) *Explanation {
	last := w[len(w)-1]
	x := &Explanation{
		APIVersion: gvk.APIVersion(), Kind: gvk.Kind, Path: w.text(), Type: types.TypeText(last.typ), Topology: types.Topology(last.typ),
		Source: e.From, Declared: declared(e.Typ, w), Owners: []ownerJSON{}, Above: []aboveJSON{},
	}
	atomic := atomicAbove(w)
	for i := range w[:len(w)-1] {
		above := aboveJSON{w[:i+1].text(), types.Topology(w[i].typ), []ownerJSON{}}
		if atomic > 0 && i >= atomic {
			above.Topology = "part of " + w[:atomic].text()
		}
		x.Above = append(x.Above, above)
	}
	if atomic > 0 {
		x.Topology = "part of " + w[:atomic].text() + ", which is one value"
	}
	inside := last.typ
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

// declared returns the type that the last step of w is declared in: the nearest one above it that has a name, with the way
// from there.
func declared(root *schema.Type, w way) string {
	for i := len(w) - 1; i >= 0; i-- {
		above := root
		if i > 0 {
			above = w[i-1].typ
		}
		if above.Name() != "" {
			return types.QuoteUnlessPlain(above.Name()) + ": " + w[i:].text()
		}
	}
	return w.text()
}

// atomicAbove returns how many steps of w lead to the atomic list or object that the last step is inside of, 0 if it is in none.
func atomicAbove(w way) int {
	for i, step := range w[:len(w)-1] {
		l, m := step.typ.List(), step.typ.Map()
		if l != nil && l.Topology() == schema.AtomicList && w[i+1].element.Kind() != fieldpath.KindField || m != nil && m.Atomic() {
			return i + 1
		}
	}
	return 0
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
	lines, linesErr := Annotate(o, e, false)
	parts := map[string]blamePart{}
	for p := range nodes(lines) {
		parts[p.path.Text()] = p
	}
	var all []*Explanation
	for _, path := range paths {
		w, err := find(e.Typ, o.Content, true, path)
		if err != nil {
			return nil, err
		}
		all = append(all, explainWay(c, o, e, w, lines, parts))
	}
	c.EntryProblems(o, linesErr)
	return all, nil
}

// explainWay explains what w leads to in o, whose lines have parts.
func explainWay(c *types.Library, o *manifest.Object, e *types.Endpoint, w way, lines []Line, parts map[string]blamePart) *Explanation {
	x := newExplanation(e, o.GVK(), w)
	identity := o.Ref()
	x.Object, x.title = &identity, fmt.Sprintf("%v: %s", o, x.Path)
	for i := range x.Above {
		x.Above[i].Owners = ownersJSON(parts[x.Above[i].Path].owners)
	}
	x.where = o.At().String() + " (the object; the field is not set)"
	if p, ok := parts[w.path().Text()]; ok {
		x.Line, x.where, x.holders, x.Through = p.at.Line, p.at.String(), p.owners, p.through.Text()
	} else {
		x.holders = ReadFields(c, o).ownersAt(w.path())
	}
	last := w[len(w)-1]
	x.shown = ShowIn(o, w.path(), last.value)
	if !last.value.IsAbsent() && x.shown != masked {
		x.Value = &last.value
	}
	x.Owners, x.Below = ownersJSON(x.holders), shares(lines, w.path())
	x.Rules = rulesOf(w, atomicAbove(w), x.holders)
	return x
}

// shares says who owns how many of the leaves below path.
func shares(lines []Line, path fieldpath.Path) []string {
	count := map[string]int{}
	var names []string
	for p := range nodes(lines) {
		if p.isContainer() || p.kind == "item" || len(p.path) <= len(path) || !p.path.HasPrefix(path) {
			continue
		}
		who := []string{nobody}
		if len(p.owners) > 0 {
			who = nil
		}
		for _, w := range p.owners {
			who = append(who, wording.Manager(w.Manager.Name)+" "+operation(w.Manager))
		}
		for _, name := range who {
			if count[name]++; count[name] == 1 {
				names = append(names, name)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for i, name := range names {
		names[i] = wording.Plural(count[name], "value") + ": " + name
	}
	return names
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
