package typed

import (
	"slices"
	"strconv"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Some conforming values cannot be merged or compared: their lists hold items without identity, or
// duplicates where the walk needs a single item. Tidy values have no such items, so they are not
// walked.

// unidentified returns an [Error] for each item without identity in the granular lists of v. Such
// an item cannot be paired with an item of another value. The parts of duplicate items do not
// count.
func (v Value) unidentified() Errors { return v.unmatched(identifier{}) }

// unmergeable is unidentified for one of the two values of a merge. The parts of duplicate items
// count. If unique is set, duplicates are errors, too.
func (v Value) unmergeable(unique bool) Errors {
	return outermost(v.unmatched(identifier{repeated: true, unique: unique}))
}

// unmatched returns the errors that w finds in v.
func (v Value) unmatched(w identifier) Errors {
	if v.tidy {
		return nil
	}
	w.node(v.typ, v.content)
	return w.report.all()
}

// identifier is the state of a walk that looks for items without identity, and for duplicates.
type identifier struct {
	repeated bool // look into duplicate items
	unique   bool // duplicates are errors
	texts    slab.Text
	path     fieldpath.Path // to the node that the walk is at
	report   report
}

// node searches v, a value of type t.
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

// below searches v, a value of type t that e leads to.
func (w *identifier) below(e fieldpath.Element, t *schema.Type, v value.Value) {
	w.path = append(w.path, e)
	w.node(t, v)
	w.path = w.path[:len(w.path)-1]
}

// list reports the defects of the items of v, and searches the items.
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
		// Compare does not look into duplicate items, so their parts do not matter to it.
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

// outermost returns the errors of errs that are about lists outside of items. If there are none, it
// returns errs. Kubernetes looks into items only in the second case.
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
