package gen

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Shrink returns the smallest history that it finds for which fails reports true. It removes parts of h one after the other. fails must
// report true for h.
func Shrink(h *History, fails func(*History) bool) *History {
	for at, progress := 0, false; ; {
		smaller := nth(h, at)
		switch {
		case smaller == nil && !progress:
			return h
		case smaller == nil:
			at, progress = 0, false
		case fails(smaller):
			h, progress = smaller, true // another part has this number now
		default:
			at++
		}
	}
}

// nth returns the n-th of [Smaller], or nil if there are fewer.
func nth(h *History, n int) (out *History) {
	for smaller := range Smaller(h) {
		if n--; n < 0 {
			return smaller
		}
	}
	return nil
}

// Smaller yields the histories without one part of h: a write, a part of a written object, or a part of the schema.
func Smaller(h *History) iter.Seq[*History] {
	return func(yield func(*History) bool) {
		_ = smallerWrites(h, yield) && smallerObjects(h, yield) && smallerSchemas(h, yield)
	}
}

func smallerWrites(h *History, yield func(*History) bool) bool {
	for n := len(h.Writes) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(h.Writes); i += n {
			if !yield(h.with(slices.Concat(h.Writes[:i], h.Writes[i+n:]))) {
				return false
			}
		}
	}
	for i, w := range h.Writes {
		if w.Retired {
			w.Retired = false
			if !yield(withWrite(h, i, w)) {
				return false
			}
		}
		if w.Version != h.Schema.Versions[0].Name && w.Operation != "Update" {
			w.Version = h.Schema.Versions[0].Name
			if !yield(withWrite(h, i, w)) {
				return false
			}
		}
	}
	return true
}

// with returns h with other writes.
func (h *History) with(writes []Write) *History { return &History{h.Schema, h.Filters, writes} }

func withWrite(h *History, i int, w Write) *History {
	writes := slices.Clone(h.Writes)
	writes[i] = w
	return h.with(writes)
}

func smallerObjects(h *History, yield func(*History) bool) bool {
	for i, w := range h.Writes {
		object := w.Object
		for smaller := range smallerValues(object) {
			w.Object = smaller
			if !yield(withWrite(h, i, w)) {
				return false
			}
		}
	}
	return true
}

// smallerValues yields v without one member or item, at any depth.
func smallerValues(v value.Value) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for name, member := range v.Members() {
			if !yield(v.With(name, value.Value{})) {
				return
			}
			for smaller := range smallerValues(member) {
				if !yield(v.With(name, smaller)) {
					return
				}
			}
		}
		items := slices.Collect(v.Items())
		for i, item := range items {
			if !yield(value.List(slices.Concat(items[:i], items[i+1:])...)) {
				return
			}
			for smaller := range smallerValues(item) {
				if !yield(value.List(slices.Concat(items[:i], []value.Value{smaller}, items[i+1:])...)) {
					return
				}
			}
		}
	}
}

// smallerSchemas yields h with a smaller schema: without a rename, a type, a field, an element type, a part of an atom, a default or an
// override.
func smallerSchemas(h *History, yield func(*History) bool) bool {
	s := h.Schema
	if len(s.Renames) > 0 && !yield(&History{&Schema{Document: s.Document, Versions: s.Versions}, h.Filters, h.Writes}) {
		return false
	}
	if h.Filters != nil && !yield(&History{s, nil, h.Writes}) {
		return false
	}
	for i := 0; ; i++ {
		d := renamed(s.Document, "")
		cut := cutter{countdown: i}
		if !cut.document(d) {
			return true
		}
		if !yield(&History{&Schema{d, s.Versions, s.Renames, s.Open}, h.Filters, h.Writes}) {
			return false
		}
	}
}

// cutter removes the part of a document at which its countdown ends.
type cutter struct{ countdown int }

func (c *cutter) here() bool {
	c.countdown--
	return c.countdown < 0
}

// document reports whether it removed a part.
func (c *cutter) document(d *schema.Document) bool {
	for i := range d.Types {
		if c.here() {
			d.Types = slices.Delete(d.Types, i, i+1)
			return true
		}
		if c.atom(&d.Types[i].Atom) {
			return true
		}
	}
	return false
}

func (c *cutter) atom(a *schema.Atom) bool {
	var cuts []func()
	if a.Scalar != schema.None {
		cuts = append(cuts, func() { a.Scalar = schema.None })
	}
	if a.List != nil {
		cuts = append(cuts, func() { a.List = nil })
	}
	if a.Map != nil {
		cuts = append(cuts, func() { a.Map = nil })
	}
	for _, cut := range cuts {
		if len(cuts) > 1 && c.here() {
			cut()
			return true
		}
	}
	return a.List != nil && c.list(a.List) || a.Map != nil && c.object(a.Map)
}

func (c *cutter) list(l *schema.ListDef) bool {
	for i := range l.Keys {
		if len(l.Keys) > 1 && c.here() {
			l.Keys = slices.Delete(l.Keys, i, i+1)
			return true
		}
	}
	return c.ref(&l.ElementType)
}

func (c *cutter) object(m *schema.MapDef) bool {
	for i := range m.Fields {
		f := &m.Fields[i]
		if c.here() {
			m.Fields = slices.Delete(m.Fields, i, i+1)
			return true
		}
		if !f.Default.IsAbsent() && c.here() {
			f.Default = value.Value{}
			return true
		}
		if c.ref(&f.Type) {
			return true
		}
	}
	if m.ElementType != (schema.TypeRef{}) && c.here() {
		m.ElementType = schema.TypeRef{}
		return true
	}
	return c.ref(&m.ElementType)
}

func (c *cutter) ref(r *schema.TypeRef) bool {
	if r.Relationship != "" && c.here() {
		r.Relationship = ""
		return true
	}
	if (r.Inlined.List != nil || r.Inlined.Map != nil) && c.here() {
		r.Inlined = schema.Atom{Scalar: schema.String}
		return true
	}
	return c.atom(&r.Inlined)
}
