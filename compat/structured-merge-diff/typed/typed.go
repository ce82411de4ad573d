package typed

import (
	"sync"

	deedpath "github.com/deed-project/deed/fieldpath"
	deed "github.com/deed-project/deed/typed"
	deedvalue "github.com/deed-project/deed/value"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/internal/door"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

var (
	schemas = door.Open(schema.Internal{})
	paths   = door.Open(fieldpath.Internal{})
)

// ValidationOptions changes what [AsTyped] accepts.
type ValidationOptions int

// AllowDuplicates accepts lists with repeated items, which stored objects may have.
const AllowDuplicates ValidationOptions = iota

// TypedValue is a value of a type of a schema. It is immutable.
type TypedValue struct {
	typeRef schema.TypeRef
	schema  *schema.Schema
	*content
}

// content is the state that copies of a TypedValue share.
//
//	view     document   content is
//	not nil  conforms   a value that was validated
//	not nil  -          a value that was not validated yet: ready reads it
//	not nil  loose      a value that does not conform or cannot be a document: see general.go
//	nil      conforms   computed from the values in from; asValue makes a view
type content struct {
	typ  *schema.Type // nil if the schema has no such type
	view value.Value  // the given value

	reading  sync.Once
	document deed.Value
	loose    bool // there is no document
	distinct bool // no list of the document has repeated items; false if unknown
	plain    bool // ToAny of the document returns the number types and map types of the view, or of the values in from

	from   [2]*content // the values that it was computed from, the live value first
	walk   func() any  // computes it from views; nil to use from; used only if the document is not plain
	making sync.Once
	made   value.Value
}

// AsTyped returns v, which has type typeRef of s, as a TypedValue, or [ValidationErrors].
func AsTyped(v value.Value, s *schema.Schema, typeRef schema.TypeRef, opts ...ValidationOptions) (*TypedValue, error) {
	tv := AsTypedUnvalidated(v, s, typeRef)
	if err := tv.Validate(opts...); err != nil {
		return nil, err
	}
	return tv, nil
}

// AsTypedUnvalidated returns v as a TypedValue without validating it. If v does not conform, operations return errors, or leave
// the parts that do not conform as they are.
//
// Deprecated: validating costs little; call AsTyped.
func AsTypedUnvalidated(v value.Value, s *schema.Schema, typeRef schema.TypeRef) *TypedValue {
	both := &struct {
		tv   TypedValue
		self content
	}{tv: TypedValue{typeRef: typeRef, schema: s}}
	both.self.view = v
	both.tv.content = &both.self
	return &both.tv
}

// TypeRef returns the reference to the type.
func (tv TypedValue) TypeRef() schema.TypeRef { return tv.typeRef }

// Schema returns the schema that has the type.
func (tv TypedValue) Schema() *schema.Schema { return tv.schema }

// AsValue returns the value without its type. This is the value that was passed to [AsTyped], or a view of new maps and slices,
// which further calls return too. Its leaves may be parts of other values.
func (tv TypedValue) AsValue() value.Value { return tv.asValue() }

// Validate returns the places that do not conform, as [ValidationErrors], or nil.
func (tv TypedValue) Validate(opts ...ValidationOptions) error {
	duplicates := false
	for _, opt := range opts {
		duplicates = duplicates || opt == AllowDuplicates
	}
	tv.reading.Do(func() { tv.read(tv.schema, tv.typeRef, duplicates) })
	if !tv.loose && (duplicates || tv.distinct) {
		return nil
	}
	if !tv.loose {
		if _, err := deed.New(tv.document.Content(), tv.document.Type()); err == nil {
			return nil
		}
	}
	if errs := validate(tv.asValue(), tv.schema, tv.typeRef, duplicates); len(errs) > 0 {
		return errs
	}
	return nil
}

// ready reads the view if it was not read yet. It returns false if there is no document.
func (tv *TypedValue) ready() bool {
	tv.reading.Do(func() { tv.read(tv.schema, tv.typeRef, true) })
	return !tv.loose
}

// read makes the document of the view. A computed value has no view, but has a document already.
func (c *content) read(s *schema.Schema, tr schema.TypeRef, duplicates bool) {
	if c.view == nil {
		return
	}
	c.loose = true
	if c.typ = schemas.Compile(s, tr); c.typ == nil {
		return
	}
	r, _ := c.typ.Readers.Get().(*value.Reader)
	if r == nil {
		r = new(value.Reader)
	}
	doc, plain, err := r.Read(c.view)
	c.typ.Readers.Put(r)
	if err != nil {
		return
	}
	if !duplicates {
		c.document, err = deed.New(doc, c.typ.Type)
		c.distinct = err == nil
	}
	if !c.distinct {
		c.document, err = deed.New(doc, c.typ.Type, deed.AllowDuplicates)
	}
	if err == nil {
		c.loose, c.plain = false, plain
	}
}

// computed returns document, which was computed from live and config, as a value of tv's type. live and config may be nil.
func (tv *TypedValue) computed(document deed.Value, live, config *content) *TypedValue {
	both := &struct {
		tv   TypedValue
		self content
	}{tv: TypedValue{typeRef: tv.typeRef, schema: tv.schema}}
	c := &both.self
	c.typ, c.document, c.from, c.plain = tv.typ, document, [2]*content{live, config}, true
	for _, from := range c.from {
		c.plain = c.plain && (from == nil || from.plain)
	}
	both.tv.content = c
	return &both.tv
}

// ToFieldSet returns the paths of all leaves and items.
func (tv TypedValue) ToFieldSet() (*fieldpath.Set, error) {
	if !tv.ready() {
		return tv.generalFields()
	}
	return paths.Wrap(tv.document.Fields(), false), nil
}

// match returns pso's document as a value of exactly tv's type. It fails if the types differ.
func (tv *TypedValue) match(pso *TypedValue) (deed.Value, error) {
	if tv.schema != pso.schema {
		return deed.Value{}, errorf("expected objects with types from the same schema")
	}
	if !tv.typeRef.Equals(&pso.typeRef) {
		return deed.Value{}, errorf("expected objects of the same type, but got %v and %v", tv.typeRef, pso.typeRef)
	}
	if !tv.ready() || !pso.ready() || tv.typ == pso.typ {
		return pso.document, nil
	}
	// Equal inlined references may have been compiled separately.
	return deed.New(pso.document.Content(), tv.document.Type(), deed.AllowDuplicates)
}

// Merge merges pso, a partial object, into tv and returns the result. Leaves of pso replace those of tv, and nothing is removed.
// Both have the same type. The items of pso keep their order. Errors are [ValidationErrors].
func (tv TypedValue) Merge(pso *TypedValue) (*TypedValue, error) {
	config, err := tv.match(pso)
	if err != nil {
		return nil, err
	}
	if tv.loose || pso.loose {
		return tv.generalMerge(pso)
	}
	merged, err := deed.Merge(tv.document, config)
	if err != nil { // errors inside of items are not reported: such items are left out
		return tv.generalMerge(pso)
	}
	out := tv.computed(merged, tv.content, pso.content)
	if !out.plain {
		out.walk = func() any { return tv.mergedViews(pso) }
	}
	return out, nil
}

// Compare returns the paths at which rhs differs from tv. Both have the same type. Errors are [ValidationErrors].
func (tv TypedValue) Compare(rhs *TypedValue) (c *Comparison, err error) {
	right, err := tv.match(rhs)
	if err != nil {
		return nil, err
	}
	if tv.loose || rhs.loose {
		return tv.generalCompare(rhs)
	}
	diff, err := deed.Compare(tv.document, right)
	if err != nil {
		return nil, fromDeed(err)
	}
	return &Comparison{
		Removed:  paths.Wrap(diff.Removed, false),
		Modified: paths.Wrap(diff.Modified, false),
		Added:    paths.Wrap(diff.Added, false),
	}, nil
}

// RemoveItems returns tv without the members and items whose paths are in items.
func (tv TypedValue) RemoveItems(items *fieldpath.Set) *TypedValue {
	if !tv.ready() {
		return tv.generalRemove(items, false)
	}
	return tv.taken(tv.document.Remove(paths.Deed(items)), items, false)
}

// taken returns document as a TypedValue. document was computed from tv by removing or extracting items.
func (tv *TypedValue) taken(document deed.Value, items *fieldpath.Set, extract bool) *TypedValue {
	out := tv.computed(document, tv.content, nil)
	if !out.plain {
		items := items.Copy()
		out.walk = func() any { return removed(tv.asValue(), items, tv.schema, tv.typeRef, extract) }
	}
	return out
}

// ExtractItemsOption changes what [TypedValue.ExtractItems] extracts.
type ExtractItemsOption func(*extractOptions)

type extractOptions struct{ keys bool }

// WithAppendKeyFields makes ExtractItems also extract the keys of the items whose parts it extracts.
func WithAppendKeyFields() ExtractItemsOption { return func(o *extractOptions) { o.keys = true } }

// ExtractItems returns only the parts of tv at the paths in items.
func (tv TypedValue) ExtractItems(items *fieldpath.Set, opts ...ExtractItemsOption) *TypedValue {
	var o extractOptions
	for _, opt := range opts {
		opt(&o)
	}
	if o.keys {
		items = tv.withKeys(items)
	}
	if !tv.ready() {
		return tv.generalRemove(items, true)
	}
	return tv.taken(tv.document.Extract(paths.Deed(items)), items, true)
}

// withKeys returns items with the key fields of all list items on its paths. Paths that tv does not have are ignored.
func (tv *TypedValue) withKeys(items *fieldpath.Set) *fieldpath.Set {
	own, err := tv.ToFieldSet()
	if err != nil {
		return items
	}
	var keys deedpath.Builder
	for p := range paths.Deed(items).Intersect(paths.Deed(own)).All() {
		for i, e := range p {
			for _, f := range e.Fields() {
				keys.Add(append(p[:i+1:i+1], deedpath.Field(f.Name)))
			}
		}
	}
	return items.Union(paths.Wrap(keys.Set(), false))
}

// Empty returns null as a value of tv's type.
func (tv TypedValue) Empty() *TypedValue {
	return AsTypedUnvalidated(value.NewValueInterface(nil), tv.schema, tv.typeRef)
}

// Internal gives the other packages of this module access to functions outside the API.
type Internal = door.Door[internal]

type internal struct{}

// Document returns tv as a value of deed. It returns false if there is none.
func (internal) Document(tv *TypedValue) (deed.Value, bool) {
	ok := tv.ready()
	return tv.document, ok
}

// Computed returns document, which was computed from live and config, as a value of tv's type.
func (internal) Computed(tv *TypedValue, document deed.Value, live, config *TypedValue) *TypedValue {
	return tv.computed(document, live.content, config.content)
}

// doc returns the document without its type, or an absent value if there is none.
func (c *content) doc() deedvalue.Value {
	if c == nil || c.loose {
		return deedvalue.Value{}
	}
	return c.document.Content()
}
