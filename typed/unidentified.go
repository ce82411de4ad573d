package typed

import (
	"slices"
	"strconv"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Values that cannot be merged or compared, although they conform: lists in them hold items that
// have no identity, or that are there twice where the walk has to choose one. Tidy values have
// none, so that mostly nothing of this is walked.

// unidentified returns an [Error] for each item of v, in granular lists, that has no identity, so
// that nobody can tell which item of another value is the same. What is inside of an item that is
// there twice does not count.
func (v Value) unidentified() Errors { return v.unmatched(identifier{}) }

// unmergeable is unidentified for one of the two values that are merged: what is inside of an item
// that is there twice counts, and if unique says so, it is an error that it is.
func (v Value) unmergeable(unique bool) Errors {
	return outermost(v.unmatched(identifier{repeated: true, unique: unique}))
}

// unmatched returns what w finds in v.
func (v Value) unmatched(w identifier) Errors {
	if v.tidy {
		return nil
	}
	w.node(v.typ, v.content)
	return w.report.all()
}

// identifier is a walk that looks for such items.
type identifier struct {
	repeated bool // look into items that are there more than once
	unique   bool // no item may be there more than once
	texts    slab.Text
	path     fieldpath.Path // to the node that the walk is at
	report   report
}

// node looks for items in v, a t.
func (w *identifier) node(t *schema.Type, v value.Value) {
	switch partsFor(t, v).first() {
	case mapPart:
		if v.Kind() != value.KindObject || t.Map().Atomic() {
			return
		}
		for name, member := range v.Members() {
			if mt, _ := t.Map().Lookup(name); mt != nil {
				w.below(fieldpath.Field(name), mt, member)
			}
		}
	case listPart:
		if v.Kind() == value.KindList && t.List().Topology() != schema.AtomicList {
			w.list(t.List(), v)
		}
	}
}

// below looks for items in v, one step below.
func (w *identifier) below(e fieldpath.Element, t *schema.Type, v value.Value) {
	w.path = append(w.path, e)
	w.node(t, v)
	w.path = w.path[:len(w.path)-1]
}

// list reports what is wrong with the items of v, and looks into them.
func (w *identifier) list(l *schema.List, v value.Value) {
	var items []itemAt
	count := map[fieldpath.Element]int{}
	for i := range v.Len() {
		if reason := defect(l, v.Item(i)); reason != "" {
			w.fail(Unidentified, "element "+strconv.Itoa(i)+": "+reason)
			continue
		}
		at := itemAt{elementOf(&w.texts, l, v.Item(i)), v.Item(i)}
		items = append(items, at)
		if count[at.element]++; w.unique && count[at.element] > 1 {
			w.fail(Duplicate, "duplicate entries for key "+paths.Decimal(fieldpath.Path{at.element}))
		}
	}
	for _, at := range items {
		// Of an item that is there twice nobody compares the parts, so what is inside does not
		// matter there.
		if w.repeated || count[at.element] == 1 {
			w.below(at.element, l.Element(), at.item)
		}
	}
}

// fail reports a defect of the list that the walk is at.
func (w *identifier) fail(r Reason, detail string) {
	if !w.report.full() {
		w.report.add(&Error{Path: slices.Clone(w.path), Reason: r, Detail: detail, Plain: detail, Redacted: redacted(r, detail)})
	}
}

// outermost returns those of errs that are not about lists inside of items, or else all: Kubernetes
// does not look into items then.
func outermost(errs Errors) Errors {
	isItem := func(e fieldpath.Element) bool { return e.Kind() != fieldpath.KindField }
	var out Errors
	for _, e := range errs {
		if e.Reason != 0 && !slices.ContainsFunc(e.Path, isItem) {
			out = append(out, e)
		}
	}
	if out == nil {
		return errs
	}
	return out
}
