package gen

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// History is a list of writes to one object, which does not exist at the start.
type History struct {
	Schema  *Schema
	Filters map[string]Filter // reset fields by version; nil for none
	Writes  []Write
}

// Filter selects the fields without ownership: the fields of Exclude with everything below, or the fields that no prefix of Include
// matches. All filters of a history are of the same one of these kinds. If there are filters, each version has one.
type Filter struct {
	Exclude []fieldpath.Path
	Include []fieldpath.Path
}

// Write is one write with the whole object.
type Write struct {
	Manager   merge.Manager
	Operation merge.Operation
	Force     bool // an Apply takes over conflicting fields
	Version   string
	Retired   bool // only the first version still exists
	Object    value.Value
}

// Writer makes the writes of a history. Each write is about the object after the earlier ones.
type Writer struct {
	schema  *Schema
	types   map[string]*schema.Type // by version
	values  Values
	last    map[merge.Manager]Write
	retired bool
}

// NewWriter returns a writer of objects of s.
func NewWriter(c *Choices, s *Schema, types map[string]*schema.Type) *Writer {
	return &Writer{schema: s, types: types, values: Values{Choices: c, Depth: 4}, last: map[merge.Manager]Write{}}
}

// Filters returns the filters of a history, mostly none.
func (w *Writer) Filters() map[string]Filter {
	if !w.values.Chance(15) {
		return nil
	}
	out := map[string]Filter{}
	include := w.values.Chance(40)
	for _, v := range w.schema.Versions {
		var f Filter
		for range 1 + w.values.N(2) {
			path := w.path(w.types[v.Name], include)
			if include {
				f.Include = append(f.Include, fieldpath.Path(path))
			} else {
				f.Exclude = append(f.Exclude, path)
			}
		}
		out[v.Name] = f
	}
	return out
}

// path returns the path of a part that objects of type t may have. With any set, it may contain [fieldpath.Any] for items.
func (w *Writer) path(t *schema.Type, any bool) fieldpath.Path {
	var out fieldpath.Path
walk:
	for t != nil && (len(out) == 0 || w.values.Chance(50)) {
		switch {
		case t.Map() != nil:
			name := w.values.memberName()
			if fields := t.Map().Fields(); len(fields) > 0 && w.values.Chance(90) {
				name = fields[w.values.N(len(fields))].Name
			}
			out = append(out, fieldpath.Field(name))
			t, _ = t.Map().Lookup(name)
		case t.List() != nil && any && w.values.Chance(60):
			out = append(out, fieldpath.Any())
			t = t.List().Element()
		case t.List() != nil:
			e := w.element(t.List())
			if e == fieldpath.Any() {
				break walk
			}
			out = append(out, e)
			t = t.List().Element()
		default:
			break walk
		}
	}
	if len(out) == 0 {
		out = fieldpath.Path{fieldpath.Field("a")}
	}
	return out
}

// element returns the element of an item that a list may have, or the zero Element if items have no identity.
func (w *Writer) element(l *schema.List) fieldpath.Element {
	item := w.values.item(l, 1)
	switch l.Topology() {
	case schema.SetList:
		return fieldpath.Item(item)
	case schema.KeyedList:
		var key []fieldpath.KeyField
		for _, k := range l.Keys() {
			if v := orDefault(item.Get(k.Name), k); !v.IsAbsent() {
				key = append(key, fieldpath.KeyField{Name: k.Name, Value: v})
			}
		}
		if len(key) > 0 {
			return fieldpath.Key(key...)
		}
	}
	return fieldpath.Element{}
}

// Next makes a write. live is the current object, in version at.
func (w *Writer) Next(live value.Value, at string) Write {
	out := Write{Version: w.version()}
	out.Retired = w.retired
	live = w.schema.Convert(live, at, out.Version)
	t := w.types[out.Version]
	if w.values.Chance(65) {
		out.Operation, out.Force = merge.Apply, w.values.Chance(45)
		out.Manager = merge.Manager{Name: Pick(w.values.Choices, "m1", "m2", "m3"), Operation: merge.Apply}
		w.values.Duplicates = false
		out.Object = Distinct(w.config(out, live, t), t)
	} else {
		out.Operation = merge.Update
		out.Manager = merge.Manager{Name: Pick(w.values.Choices, "m1", "m4"), Operation: merge.Update, APIVersion: out.Version}
		if w.values.Chance(20) { // a manager that also applies
			out.Manager = merge.Manager{Name: "m2", Operation: merge.Apply}
		}
		w.values.Duplicates = w.values.Chance(15)
		out.Object = w.changed(live, t)
	}
	w.last[out.Manager] = out
	return out
}

// version chooses the version of a write. Sometimes all versions but the first cease to exist.
func (w *Writer) version() string {
	w.retired = w.retired || w.values.Chance(1)
	if w.retired {
		return w.schema.Versions[0].Name
	}
	return w.schema.Versions[min(w.values.N(4), w.values.N(len(w.schema.Versions)))].Name
}

// changed returns an updater's new state of live.
func (w *Writer) changed(live value.Value, t *schema.Type) value.Value {
	if w.values.Chance(8) {
		return w.values.Of(t)
	}
	for range 1 + w.values.N(3) {
		live = w.values.Mutate(live, t)
	}
	return live
}

// config returns an applier's configuration.
func (w *Writer) config(write Write, live value.Value, t *schema.Type) value.Value {
	last, again := w.last[write.Manager]
	before := w.schema.Convert(last.Object, last.Version, write.Version)
	switch n := w.values.N(100); {
	case n < 20 && again:
		return before
	case n < 40 && again:
		return w.values.Part(before, t)
	case n < 60 && again:
		return w.values.Mutate(before, t)
	case n < 70:
		return w.values.Mutate(w.values.Part(live, t), t)
	case n < 80:
		return w.values.Part(live, t)
	case n < 90:
		return w.values.Part(w.values.Mutate(live, t), t)
	}
	return w.values.Of(t)
}
