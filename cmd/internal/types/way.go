package types

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Place is a step of a path through a type, and through an object of that type.
type Place struct {
	Element fieldpath.Element // zero for an unspecified item
	Type    *schema.Type
	Value   value.Value // absent if there is no value, or no object
}

// Way is the sequence of places along a path. The last one is the target.
type Way []Place

// Path returns the path up to the first unspecified item.
func (w Way) Path() fieldpath.Path {
	var p fieldpath.Path
	for _, step := range w {
		if step.Element == fieldpath.Any() {
			break
		}
		p = append(p, step.Element)
	}
	return p
}

// Text returns the path as view shows it, with [] for unspecified items.
func (w Way) Text(view secret.View) string {
	return w.from(0, view)
}

// from is Text without the first n steps.
func (w Way) from(n int, view secret.View) string {
	var b strings.Builder
	for i := n; i < len(w); i++ {
		if w[i].Element == fieldpath.Any() {
			b.WriteString("[]")
		} else {
			b.WriteString(view.Step(w[:i].elements(), w[i].Element))
		}
	}
	return b.String()
}

// elements returns the elements of all steps.
func (w Way) elements() fieldpath.Path {
	out := make(fieldpath.Path, len(w))
	for i, step := range w {
		out[i] = step.Element
	}
	return out
}

// Declared returns the type that declares the last step of w, a way through root. It is the nearest named type above the step. The result
// includes the way from that type, as view shows it.
func (w Way) Declared(root *schema.Type, view secret.View) string {
	for i := len(w) - 1; i >= 0; i-- {
		above := root
		if i > 0 {
			above = w[i-1].Type
		}
		if above.Name() != "" {
			return QuoteUnlessPlain(above.Name()) + ": " + w.from(i, view)
		}
	}
	return w.Text(view)
}

// Atomic returns the number of steps of w to the atomic list or object around its last step, or 0 if there is none.
func (w Way) Atomic() int {
	for i, step := range w[:len(w)-1] {
		l, m := step.Type.List(), step.Type.Map()
		if l != nil && l.Topology() == schema.AtomicList && w[i+1].Element.Kind() != fieldpath.KindField || m != nil && m.Atomic() {
			return i + 1
		}
	}
	return 0
}

// finder follows a path.
type finder struct {
	Way
	typ    *schema.Type
	value  value.Value
	object bool // whether there is an object, so that items must be specified
	view   secret.View
}

// Follow returns the way of path through v of type t or, without an object, through t alone. path may omit keys that have a default. It may
// omit the item of a list with only one item and, without an object, of any list. The error names the place where path fails, as view shows
// it.
func Follow(t *schema.Type, v value.Value, object bool, view secret.View, path fieldpath.Path) (Way, error) {
	f := finder{typ: t, value: v, object: object, view: view}
	for _, e := range path {
		if err := f.step(e); err != nil {
			return f.Way, err
		}
	}
	return f.Way, nil
}

func (f *finder) step(e fieldpath.Element) error {
	if e.Kind() == fieldpath.KindField {
		if f.typ.Map() == nil && f.typ.List() != nil {
			if err := f.anyItem(); err != nil {
				return err
			}
		}
		return f.field(e)
	}
	if f.typ.List() == nil {
		return secret.Errorf("%s is no list but %s: it has no item %s", f.here(), Admitted(f.typ), f.named(e))
	}
	return f.item(e)
}

func (f *finder) here() string {
	if len(f.Way) == 0 {
		return "the object"
	}
	return f.Text(f.view)
}

// named returns e, an element at the current place, as text.
func (f *finder) named(e fieldpath.Element) string { return f.view.Step(f.elements(), e) }

// add steps to e.
func (f *finder) add(e fieldpath.Element, t *schema.Type, v value.Value) {
	f.typ, f.value = t, v
	f.Way = append(f.Way, Place{e, t, v})
}

func (f *finder) field(e fieldpath.Element) error {
	m := f.typ.Map()
	if m == nil {
		return secret.Errorf("%s is no object but %s: it has no field %q", f.here(), Admitted(f.typ), e.Name())
	}
	t, _ := m.Lookup(e.Name())
	if t == nil {
		names := make([]string, len(m.Fields()))
		for i, field := range m.Fields() {
			names[i] = field.Name
		}
		if meant := wording.Nearest(e.Name(), names); meant != "" {
			return secret.Errorf("%s has no field %q; did you mean %q?", f.here(), e.Name(), meant)
		}
		return secret.Errorf("%s has no field %q; it has %s", f.here(), e.Name(), strings.Join(names, ", "))
	}
	f.add(e, t, f.value.Get(e.Name()))
	return nil
}

// anyItem steps to the only item of a list or, without an object, to an unspecified item.
func (f *finder) anyItem() error {
	l := f.typ.List()
	switch {
	case !f.object:
		f.add(fieldpath.Element{}, l.Element(), value.Value{})
	case f.value.Len() == 1:
		f.add(f.identity(0), l.Element(), f.value.Item(0))
	default:
		return secret.Errorf("%s is a list of %s: say which%s", f.here(), wording.Plural(f.value.Len(), "item"), f.items())
	}
	return nil
}

// identity returns the element of item i of the current list.
func (f *finder) identity(i int) fieldpath.Element {
	if e, ok := typing.ElementOf(&slab.Text{}, f.typ.List(), f.value.Item(i)); ok {
		return e
	}
	return fieldpath.Index(i)
}

// items lists the first items of the current list.
func (f *finder) items() string {
	const few = 12
	var names []string
	for i := range min(f.value.Len(), few) {
		names = append(names, f.named(f.identity(i)))
	}
	if f.value.Len() > few {
		names = append(names, "…")
	}
	if len(names) == 0 {
		return ""
	}
	return " of " + strings.Join(names, ", ")
}

func (f *finder) item(e fieldpath.Element) error {
	l := f.typ.List()
	if e.Kind() == fieldpath.KindKey && l.Topology() == schema.KeyedList {
		var err error
		if e, err = f.completed(e, l.Keys()); err != nil {
			return err
		}
	}
	i, found := manifest.FindItem(f.value, e)
	switch {
	case found:
		f.add(f.identity(i), l.Element(), f.value.Item(i))
	case f.object && f.value.Len() > 0:
		return secret.Errorf("%s has no item %s, only those%s", f.here(), f.named(e), f.items())
	case matches(e, l.Topology()):
		f.add(e, l.Element(), value.Value{})
	case f.object:
		return secret.Errorf("%s has no item %s: it is empty", f.here(), f.named(e))
	default:
		f.add(fieldpath.Element{}, l.Element(), value.Value{})
	}
	return nil
}

// matches reports whether e names items of lists with topology t.
func matches(e fieldpath.Element, t schema.Topology) bool {
	return t == schema.KeyedList && e.Kind() == fieldpath.KindKey || t == schema.SetList && e.Kind() == fieldpath.KindItem
}

// completed returns e with the default values of the keys that it omits.
func (f *finder) completed(e fieldpath.Element, keys []schema.Key) (fieldpath.Element, error) {
	fields := e.Fields()
	for _, field := range fields {
		if !slices.ContainsFunc(keys, func(k schema.Key) bool { return k.Name == field.Name }) {
			return e, secret.Errorf("the items of %s are told apart by %s, not by %s", f.here(), KeyNames(keys), field.Name)
		}
	}
	for _, k := range keys {
		missing := !slices.ContainsFunc(fields, func(field fieldpath.KeyField) bool { return field.Name == k.Name })
		if missing && !k.Default.IsAbsent() {
			fields = append(fields, fieldpath.KeyField{Name: k.Name, Value: k.Default})
		}
	}
	return fieldpath.Key(fields...), nil
}
