package typed

import (
	"fmt"
	"sync"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Validation. Most values conform, and most parts of them are scalars that their type admits: these
// have a shortcut. The walk builds no paths for the other parts. It keeps a trail of names and
// numbers, and makes a path of the trail only for an error.
//
// If a conforming object is known, such as the live object, the walk skips the parts that the new
// object shares with it:
//
//	known    {spec: A, status: B}      A and B are storage
//	v        {spec: A, status: C}      C is checked, and A is skipped

// New returns v as a value of type t, or else [Errors] with the places where v does not conform:
//
//	V1  Null conforms to every type.
//	V2  Any other value conforms to the part of the type that admits its kind: the list part, the
//	    object part, or the scalar part, which must allow the scalar.
//	V3  Each member of an object conforms to the type of the field with its name, or else to the
//	    map's element type. If the map has neither, the member is undeclared.
//	V4  Each item of a list conforms to the list's element type.
//	V5  In a set, items are scalars and not null. In a keyed list, items are objects with at least
//	    one key, where a default counts as a key. If the schema leaves the relationship of a
//	    list's items open, the items have no identity and may be any values. Such a list can be
//	    neither merged nor compared, unless it is empty or inside an atomic container.
//	V6  No two items of a set or keyed list have the same identity, unless duplicates are
//	    allowed, as they are in stored objects.
//
// The option [AllowDuplicates] allows duplicates. New also checks the parts of atomic lists and objects. Rules V5 and V6 apply there to parts that
// are sets or keyed lists. No member is ever required. A type with a defect, see [schema.Type.Err],
// admits no value. The nil type admits none either.
func New(v value.Value, t *schema.Type, opts ...Option) (Value, error) {
	return conforming(v, t, value.Value{}, opts)
}

// revise is [New] with v's type, for content that shares parts with v. Members are matched by name,
// and items by number. If a part is the same storage in both, it conforms already and is not
// checked again.
func (v Value) revise(content value.Value, opts ...Option) (Value, error) {
	if !v.tidy {
		return New(content, v.typ, opts...) // v may have duplicates that opts do not admit
	}
	return conforming(content, v.typ, v.content, opts)
}

// conforming is New for a v whose shared parts are known to conform: the parts that are the same
// storage as the part of known at the same place.
func conforming(v value.Value, t *schema.Type, known value.Value, opts []Option) (Value, error) {
	w := validators.Get().(*validator)
	w.root, w.rootType, w.tidy = v, t, true
	for _, o := range opts {
		w.allowDuplicates = w.allowDuplicates || o == AllowDuplicates
	}
	if err := t.Err(); err != nil {
		w.fail(BadSchema, "%v", err) // even if v is absent
	} else {
		w.node(t, v, known)
	}
	work.Add(work.Counts{Nodes: w.nodes, Pairs: w.index.pairs})
	out, errs := Value{content: v, typ: t, tidy: w.tidy}, w.report.all()
	*w = validator{trail: w.trail[:0], index: index{slots: w.index.slots}}
	validators.Put(w)
	if errs != nil {
		return Value{}, errs
	}
	return out, nil
}

var validators = sync.Pool{New: func() any { return new(validator) }}

// validator is the state of New.
type validator struct {
	root            value.Value
	rootType        *schema.Type
	allowDuplicates bool
	tidy            bool
	nodes           int // number of visited nodes

	trail  []step
	index  index
	report report
}

// step leads from a node to a node below it. Only an error turns the steps into path elements.
type step struct {
	name string // of a member
	item int    // number of an item; -1 for a member
}

// fail reports a defect of the node that the walk is at.
func (w *validator) fail(r Reason, format string, args ...any) {
	if w.report.full() {
		return
	}
	detail := fmt.Sprintf(format, args...)
	w.report.add(&Error{Path: w.path(), Reason: r, Detail: detail, Plain: detail, Redacted: redacted(r, detail)})
}

// redacted returns detail without the duplicate item that it may name.
func redacted(r Reason, detail string) string {
	if r == Duplicate {
		return "duplicate entries for a key"
	}
	return detail
}

// failKind reports that v is of another kind than want. form is the verb that prints v as
// Kubernetes does.
func (w *validator) failKind(want, form string, v value.Value) {
	if w.report.full() {
		return
	}
	w.report.add(&Error{
		Path: w.path(), Reason: WrongKind,
		Detail: "expected " + want + ", got " + fmt.Sprintf(form, v.ToAny()),
		Plain:  "expected " + want + ", got " + describe(v), Redacted: "expected " + want + ", got " + v.Kind().String(),
	})
}

// The forms in which Kubernetes prints a value of an unexpected kind.
const (
	formType   = "%T"
	formValue  = "&{%v}"
	formSource = "&value.valueUnstructured{Value:%#v}"
)

// path returns the path to the node that the walk is at.
func (w *validator) path() fieldpath.Path {
	var m slab.Text
	var out fieldpath.Path
	t, v := w.rootType, w.root
	for _, s := range w.trail {
		if s.item < 0 {
			t, _ = t.Map().Lookup(s.name)
			v = v.Get(s.name)
			out = append(out, fieldpath.Field(s.name))
			continue
		}
		l := t.List()
		t, v = l.Element(), v.Item(s.item)
		if l.Topology() == schema.SetList || l.Topology() == schema.KeyedList {
			out = append(out, elementOf(&m, l, v))
		} else {
			out = append(out, fieldpath.Index(s.item))
		}
	}
	return out
}

// node checks v. The parts that are the same storage in known conform already.
func (w *validator) node(t *schema.Type, v, known value.Value) {
	if v.Same(known) {
		return
	}
	w.nodes++
	switch partsFor(t, v).first() {
	case mapPart:
		w.object(t.Map(), v, known)
	case scalarPart:
		w.scalar(t, v)
	case listPart:
		w.list(t.List(), v, known)
	default:
		w.fail(BadSchema, "%v", t.Err())
	}
}

// takes reports whether v is a scalar that s allows. Most visited values are.
func takes(s schema.Scalar, v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return s == schema.String || s == schema.Untyped
	case value.KindInt, value.KindFloat:
		return s == schema.Numeric || s == schema.Untyped
	case value.KindBool:
		return s == schema.Boolean || s == schema.Untyped
	}
	return false
}

// scalar checks that v is a scalar that t admits.
func (w *validator) scalar(t *schema.Type, v value.Value) {
	s := t.Scalar()
	if v.IsNull() || takes(s, v) {
		return
	}
	want, form := "", formValue
	switch s {
	case schema.Numeric:
		want, form = "numeric (int or float)", formType
	case schema.String:
		want, form = "string", formSource
	case schema.Boolean:
		want = "boolean"
	case schema.Untyped:
		want = "any scalar"
	default:
		w.fail(BadSchema, "unexpected scalar type in schema: %v", schemas.ScalarWord(t))
		return
	}
	if !v.IsAbsent() {
		w.failKind(want, form, v)
	}
}

// describe returns v for a message: a scalar as kind and value, a container as its kind.
func describe(v value.Value) string {
	switch v.Kind() {
	case value.KindList, value.KindObject, value.KindAbsent:
		return v.Kind().String()
	}
	return v.Kind().String() + " " + v.String()
}

// object checks the members of an object.
func (w *validator) object(m *schema.Map, v, known value.Value) {
	if v.Kind() != value.KindObject {
		if !v.IsNull() {
			w.failKind("map", formValue, v)
		}
		return
	}
	depth, next, olds := len(w.trail), 0, values.Members(known)
	for _, member := range values.Members(v) {
		var old value.Value
		for len(olds) > 0 && olds[0].Name != member.Name && olds[0].Name < member.Name {
			olds = olds[1:]
		}
		if len(olds) > 0 && olds[0].Name == member.Name {
			if old = olds[0].Value; member.Value.Same(old) {
				continue
			}
		}
		t, _ := schemas.LookupNext(m, &next, member.Name)
		// Shortcut: a scalar that the type takes needs neither a trail nor a call.
		if t != nil && takes(t.Scalar(), member.Value) {
			w.nodes++
			continue
		}
		w.trail = append(w.trail[:depth], step{member.Name, -1})
		if t != nil {
			w.node(t, member.Value, old)
		} else {
			w.fail(Undeclared, "field not declared in schema")
		}
	}
	w.trail = w.trail[:depth]
}

// list checks the items of a list, up to the first item without identity.
func (w *validator) list(l *schema.List, v, known value.Value) {
	if v.Kind() != value.KindList {
		if !v.IsNull() {
			w.failKind("list", formValue, v)
		}
		return
	}
	// V5: the number of items before the first one without identity, and why that item has none.
	identified, reason, twice := v.Len(), "", []int(nil)
	switch l.Topology() {
	case schema.SetList, schema.KeyedList:
		identified, reason, twice = w.identities(l, v)
	case schema.IncompleteList:
		w.tidy = w.tidy && v.Len() == 0
	}
	depth, olds := len(w.trail), values.Items(known)
	for i, item := range values.Items(v)[:identified] {
		if len(twice) > 0 && twice[0] == i { // after the errors inside earlier items, as in the reference
			var m slab.Text
			w.trail, twice = w.trail[:depth], twice[1:]
			w.fail(Duplicate, "duplicate entries for key %s", paths.Decimal(fieldpath.Path{elementOf(&m, l, item)}))
		}
		var old value.Value
		if i < len(olds) {
			if old = olds[i]; item.Same(old) {
				continue
			}
		}
		if takes(l.Element().Scalar(), item) {
			w.nodes++
			continue
		}
		w.trail = append(w.trail[:depth], step{"", i})
		w.node(l.Element(), item, old)
	}
	// An item without identity is reported after these errors, too.
	if w.trail = w.trail[:depth]; reason != "" {
		w.fail(Unidentified, "element %d: %s", identified, reason)
	}
}

// identities checks rules V5 and V6 for the items of one list. It returns the number of items
// before the first item without identity, and the reason for that item. As in the reference, the
// items after it are not checked. It also returns the numbers of duplicates, unless duplicates are
// allowed.
func (w *validator) identities(l *schema.List, v value.Value) (identified int, reason string, twice []int) {
	items := values.Items(v)
	for identified < len(items) && reason == "" {
		if reason = defect(l, items[identified]); reason == "" {
			identified++
		}
	}
	w.index.reset(l, items)
	for i := range identified {
		if w.index.add() == i {
			continue
		}
		w.tidy = false
		if !w.allowDuplicates {
			twice = append(twice, i)
		}
	}
	return identified, reason, twice
}
