package typed

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// This file walks views along their types, for values without a conforming document: values that were never validated, and Go
// values that cannot be documents. The walks also return the validation errors, whose texts show Go values. nil stands for an
// absent value.

// resolved returns the atom of the type tr. If one part of the atom admits v, the result has only that part; see narrow.
func resolved(s *schema.Schema, tr schema.TypeRef, v value.Value) (schema.Atom, ValidationErrors) {
	atom, ok := s.Resolve(tr)
	if !ok {
		name := "inlined type"
		if tr.NamedType != nil {
			name = *tr.NamedType
		}
		return atom, errorf("schema error: no type found matching: %v", name)
	}
	return narrow(atom, v), nil
}

// narrow returns the part of atom that admits v, or all of atom if no part does.
func narrow(atom schema.Atom, v value.Value) schema.Atom {
	switch {
	case v == nil:
	case v.IsFloat(), v.IsInt(), v.IsString(), v.IsBool():
		if atom.Scalar != nil {
			return schema.Atom{Scalar: atom.Scalar}
		}
	case v.IsList():
		if atom.List != nil {
			return schema.Atom{List: atom.List}
		}
	case v.IsMap():
		if atom.Map != nil {
			return schema.Atom{Map: atom.Map}
		}
	}
	return atom
}

// invalid returns the error for a type without any part.
func invalid(tr schema.TypeRef) ValidationErrors {
	if tr.NamedType != nil {
		return errorf("schema error: invalid atom: named type: %v", *tr.NamedType)
	}
	return errorf("schema error: invalid atom: inlined")
}

// memberType returns the type of the member called name, and whether it is declared.
func memberType(m *schema.Map, name string) (tr schema.TypeRef, declared bool) {
	if f, ok := m.FindField(name); ok {
		return f.Type, true
	}
	return m.ElementType, false
}

// validate returns an error for each place in v that does not conform to the type tr.
func validate(v value.Value, s *schema.Schema, tr schema.TypeRef, duplicates bool) ValidationErrors {
	atom, errs := resolved(s, tr, v)
	switch {
	case errs != nil:
		return errs
	case atom.Map != nil:
		return validateMap(v, s, atom.Map, duplicates)
	case atom.Scalar != nil:
		return validateScalar(*atom.Scalar, v, "")
	case atom.List != nil:
		return validateList(v, s, atom.List, duplicates)
	}
	return invalid(tr)
}

// validateScalar returns the reason why a scalar type does not admit v, or nil if it does.
func validateScalar(t schema.Scalar, v value.Value, side string) ValidationErrors {
	if v == nil || v.IsNull() {
		return nil
	}
	number := v.IsFloat() || v.IsInt()
	switch t {
	case schema.Numeric:
		if !number {
			return errorf("%vexpected numeric (int or float), got %T", side, v.Unstructured())
		}
	case schema.String:
		if !v.IsString() {
			return errorf("%vexpected string, got %#v", side, v)
		}
	case schema.Boolean:
		if !v.IsBool() {
			return errorf("%vexpected boolean, got %v", side, v)
		}
	case schema.Untyped:
		if !number && !v.IsString() && !v.IsBool() {
			return errorf("%vexpected any scalar, got %v", side, v)
		}
	default:
		return errorf("%vunexpected scalar type in schema: %v", side, t)
	}
	return nil
}

// validateMap validates a map. It stops at a member that is not declared.
func validateMap(v value.Value, s *schema.Schema, m *schema.Map, duplicates bool) (errs ValidationErrors) {
	switch {
	case v == nil:
		return errorf("expected map, got nil")
	case v.IsNull():
		return nil
	case !v.IsMap():
		return errorf("expected map, got %v", v)
	}
	v.AsMap().Iterate(func(name string, member value.Value) bool {
		tr, declared := memberType(m, name)
		if !declared && tr == (schema.TypeRef{}) {
			errs = append(errs, errorf("field not declared in schema").WithPrefix("."+name)...)
			return false
		}
		errs = append(errs, validate(member, s, tr, duplicates).WithPrefix("."+name)...)
		return true
	})
	return errs
}

// validateList validates a list. It stops at an item that has no identity.
func validateList(v value.Value, s *schema.Schema, l *schema.List, duplicates bool) (errs ValidationErrors) {
	if v.IsNull() {
		return nil
	}
	if !v.IsList() {
		return errorf("expected list, got %v", v)
	}
	items := v.AsList()
	seen := fieldpath.MakePathElementSet(items.Length())
	for i := range items.Length() {
		item := items.At(i)
		element := fieldpath.IndexElement(i)
		if l.ElementRelationship == schema.Associative {
			var err error
			if element, err = itemElement(s, l, item); err != nil {
				return append(errs, errorf("element %v: %v", i, err)...)
			}
			if seen.Has(element) && !duplicates {
				errs = append(errs, errorf("duplicate entries for key %v", element)...)
			}
			seen.Insert(element)
		}
		errs = append(errs, validate(item, s, l.ElementType, duplicates).WithLazyPrefix(element.String)...)
	}
	return errs
}

// itemElement returns the element that identifies item in a list. It fails if item has no identity.
func itemElement(s *schema.Schema, l *schema.List, item value.Value) (fieldpath.PathElement, error) {
	switch {
	case l.ElementRelationship != schema.Associative:
		return fieldpath.PathElement{}, errors.New("invalid indexing of non-associative list")
	case len(l.Keys) > 0:
		return keyElement(s, l, item)
	case item.IsMap():
		return fieldpath.PathElement{}, errors.New("associative list without keys has an element that's a map type")
	case item.IsList():
		return fieldpath.PathElement{}, errors.New("not supported: associative list with lists as elements")
	case item.IsNull():
		return fieldpath.PathElement{}, errors.New("associative list without keys has an element that's an explicit null")
	}
	return fieldpath.ValueElement(item), nil
}

// keyElement does the work of itemElement for a list with keys. It leaves out keys that item lacks and that have no default.
func keyElement(s *schema.Schema, l *schema.List, item value.Value) (fieldpath.PathElement, error) {
	if item.IsNull() {
		return fieldpath.PathElement{}, errors.New("associative list with keys may not have a null element")
	}
	if !item.IsMap() {
		return fieldpath.PathElement{}, errors.New("associative list with keys may not have non-map elements")
	}
	key := value.FieldList{}
	m := item.AsMap()
	for _, name := range l.Keys {
		v, ok := m.Get(name)
		if !ok {
			def, err := keyDefault(s, l, name)
			if err != nil {
				return fieldpath.PathElement{}, fmt.Errorf("couldn't find default value for %v: %v", name, err)
			}
			if def == nil {
				continue
			}
			v = value.NewValueInterface(def)
		}
		key = append(key, value.Field{Name: name, Value: v})
	}
	if len(key) == 0 {
		return fieldpath.PathElement{}, fmt.Errorf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", l.Keys)
	}
	key.Sort()
	return fieldpath.PathElement{Key: &key}, nil
}

// keyDefault returns the default of the items' field called name, or nil if there is none.
func keyDefault(s *schema.Schema, l *schema.List, name string) (interface{}, error) {
	atom, ok := s.Resolve(l.ElementType)
	if !ok {
		return nil, errors.New("invalid elementType for list")
	}
	if atom.Map == nil {
		return nil, errors.New("associative list may not have non-map types")
	}
	f, _ := atom.Map.FindField(name)
	return f.Default, nil
}

// items has the items of a list that have an identity, in order.
type items struct {
	elements []fieldpath.PathElement
	values   []value.Value
	first    fieldpath.PathElementMap // from an element to the numbers of the items that have it, a []int
}

// itemsOf returns the items of v, or none if v is not a list. It returns an error for each item without identity.
func itemsOf(s *schema.Schema, l *schema.List, v value.Value) (out items, errs ValidationErrors) {
	if v == nil || !v.IsList() {
		return out, nil
	}
	list := v.AsList()
	for i := range list.Length() {
		item := list.At(i)
		element, err := itemElement(s, l, item)
		if err != nil {
			errs = append(errs, errorf("element %v: %v", i, err)...)
			continue
		}
		out.first.Insert(element, append(out.of(element), len(out.elements)))
		out.elements, out.values = append(out.elements, element), append(out.values, item)
	}
	return out, errs
}

// of returns the numbers of the items that element selects.
func (l *items) of(element fieldpath.PathElement) []int {
	v, _ := l.first.Get(element)
	numbers, _ := v.([]int)
	return numbers
}

// pair is a walk of two values of one type. One of the values may be nil.
type pair struct {
	schema *schema.Schema
	merged func(l, r value.Value) any // returns the merged leaf; nil to compare
	diff   *Comparison
}

// isNone reports whether v has no items, or, unless list is set, no members.
func isNone(v value.Value, list bool) bool {
	switch {
	case v == nil:
		return true
	case list:
		return !v.IsList() || v.AsList().Length() == 0
	}
	return !v.IsMap() || v.AsMap().Empty()
}

// walk merges or compares l and r, which are at path. It returns the merged value, or nil if there is none.
func (w *pair) walk(path fieldpath.Path, tr schema.TypeRef, l, r value.Value) (out *any, errs ValidationErrors) {
	atom, errs := resolved(w.schema, tr, nil)
	if errs != nil {
		return nil, errs
	}
	left, right := narrow(atom, l), narrow(atom, r)
	leaf := false
	switch {
	case r == nil:
		out, leaf, errs = w.part(path, tr, left, l, r)
	case l == nil || left.Equals(&right):
		out, leaf, errs = w.part(path, tr, right, l, r)
	default: // the kinds differ, and both count
		_, _, errs = w.part(path, tr, left, l, r)
		var more ValidationErrors
		out, leaf, more = w.part(path, tr, right, l, r)
		errs = append(errs, more...)
	}
	if !leaf && w.diff != nil {
		switch {
		case l == nil:
			w.diff.Added.Insert(path)
		case r == nil:
			w.diff.Removed.Insert(path)
		}
	}
	return out, errs
}

// part does the work of walk for one part of a type. leaf reports that it treated l and r as leaves.
func (w *pair) part(path fieldpath.Path, tr schema.TypeRef, atom schema.Atom, l, r value.Value) (out *any, leaf bool, errs ValidationErrors) {
	switch {
	case atom.Map != nil:
		if atom.Map.ElementRelationship == schema.Atomic || isNone(l, false) && isNone(r, false) {
			return w.leaf(path, l, r), true, nil
		}
		out, errs = w.maps(path, atom.Map, l, r)
		return out, false, errs
	case atom.Scalar != nil:
		left, right := validateScalar(*atom.Scalar, l, "lhs: "), validateScalar(*atom.Scalar, r, "rhs: ")
		if len(left) > 0 && len(right) > 0 {
			return nil, false, append(left, right...)
		}
		return w.leaf(path, l, r), true, nil
	case atom.List != nil:
		if atom.List.ElementRelationship == schema.Atomic || isNone(l, true) && isNone(r, true) {
			return w.leaf(path, l, r), true, nil
		}
		if w.diff != nil {
			return nil, false, w.compareLists(path, atom.List, l, r)
		}
		out, errs = w.mergeLists(path, atom.List, l, r)
		return out, false, errs
	}
	return nil, false, invalid(tr)
}

func (w *pair) leaf(path fieldpath.Path, l, r value.Value) *any {
	if w.diff == nil {
		out := w.merged(l, r)
		return &out
	}
	switch {
	case l == nil:
		w.diff.Added.Insert(path)
	case r == nil:
		w.diff.Removed.Insert(path)
	case !value.Equals(r, l):
		w.diff.Modified.Insert(path)
	}
	return nil
}

// asMap returns v as a map, or nil if v is not a map.
func asMap(v value.Value) value.Map {
	if v == nil || !v.IsMap() {
		return nil
	}
	return v.AsMap()
}

func (w *pair) maps(path fieldpath.Path, m *schema.Map, l, r value.Value) (_ *any, errs ValidationErrors) {
	out := map[string]interface{}{}
	value.MapZip(asMap(l), asMap(r), value.Unordered, func(name string, left, right value.Value) bool {
		tr, _ := memberType(m, name)
		element := fieldpath.FieldNameElement(name)
		merged, more := w.walk(append(slices.Clip(path), element), tr, left, right)
		errs = append(errs, more.WithLazyPrefix(element.String)...)
		if merged != nil {
			out[name] = *merged
		}
		return true
	})
	if len(out) == 0 {
		return nil, errs
	}
	result := any(out)
	return &result, errs
}

// compareLists compares items by identity. Items that one side has several times are compared as one item, see rule C5 of deed's
// Compare.
func (w *pair) compareLists(path fieldpath.Path, t *schema.List, l, r value.Value) ValidationErrors {
	left, errs := itemsOf(w.schema, t, l)
	right, more := itemsOf(w.schema, t, r)
	errs = append(errs, more...)
	both := append(slices.Clone(left.elements), right.elements...)
	done := fieldpath.MakePathElementSet(len(both))
	for _, element := range both {
		if done.Has(element) {
			continue
		}
		done.Insert(element)
		ls, rs := left.of(element), right.of(element)
		at := append(slices.Clip(path), element)
		single := func(l, r value.Value) {
			_, more := w.walk(at, t.ElementType, l, r)
			errs = append(errs, more.WithLazyPrefix(element.String)...)
		}
		switch {
		case len(ls) > 1 && len(rs) > 1:
			if !slices.EqualFunc(ls, rs, func(i, j int) bool { return value.Equals(left.values[i], right.values[j]) }) {
				w.diff.Modified.Insert(at)
			}
		case len(ls) > 1:
			if len(rs) == 1 {
				single(nil, right.values[rs[0]])
			}
			w.diff.Removed.Insert(at)
		case len(rs) > 1:
			if len(ls) == 1 {
				single(left.values[ls[0]], nil)
			}
			w.diff.Added.Insert(at)
		case len(ls) == 0:
			single(nil, right.values[rs[0]])
		case len(rs) == 0:
			single(left.values[ls[0]], nil)
		default:
			single(left.values[ls[0]], right.values[rs[0]])
		}
	}
	return errs
}

// mergeLists merges items by identity, in the order of rule M4 of deed's Merge. It does not report errors inside of items: items
// that cannot be merged are left out.
func (w *pair) mergeLists(path fieldpath.Path, t *schema.List, l, r value.Value) (*any, ValidationErrors) {
	config, errs := itemsOf(w.schema, t, r)
	for i, element := range config.elements {
		if config.of(element)[0] != i {
			errs = append(errs, errorf("duplicate entries for key %v", element)...)
		}
	}
	live, more := itemsOf(w.schema, t, l)
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, errs
	}
	var out []interface{}
	add := func(element fieldpath.PathElement, l, r value.Value) {
		if merged, _ := w.walk(append(slices.Clip(path), element), t.ElementType, l, r); merged != nil {
			out = append(out, *merged)
		}
	}
	// Two cursors, i and c, go through the lists. anchor is the next item of config, from c on, that live also has.
	next := func(c int) int {
		for c < len(config.elements) && len(live.of(config.elements[c])) == 0 {
			c++
		}
		return c
	}
	i, c, anchor := 0, 0, next(0)
	take := func() { // adds config's next item, merged with live's if there is exactly one
		element, old := config.elements[c], value.Value(nil)
		switch numbers := live.of(element); {
		case len(numbers) > 1:
			old = value.NewValueInterface(nil)
		case len(numbers) == 1:
			old = live.values[numbers[0]]
		}
		add(element, old, config.values[c])
		if c == anchor {
			anchor = next(c + 1)
		}
		c++
	}
	for i < len(live.elements) || c < len(config.elements) {
		if i < len(live.elements) {
			mine := -1 // the item of config with the identity of the live one
			if numbers := config.of(live.elements[i]); len(numbers) > 0 {
				mine = numbers[0]
			}
			switch {
			case mine < 0: // only live has it
				add(live.elements[i], live.values[i], nil)
				i++
				continue
			case mine == c: // both cursors are at the same item
				i++
				take()
				continue
			case c < len(config.elements) && anchor < len(config.elements) && mine != anchor: // its turn comes later, or is past
				i++
				continue
			case mine < c: // its turn is past
				i++
			}
		}
		if c < len(config.elements) {
			take()
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	result := any(out)
	return &result, nil
}

func (tv *TypedValue) generalMerge(pso *TypedValue) (*TypedValue, error) {
	out, errs := tv.mergeViews(pso)
	if len(errs) > 0 {
		return nil, errs
	}
	return AsTypedUnvalidated(value.NewValueInterface(out), tv.schema, tv.typeRef), nil
}

// mergeViews merges the views of tv and pso. It returns nil if nothing is left.
func (tv *TypedValue) mergeViews(pso *TypedValue) (any, ValidationErrors) {
	w := &pair{schema: tv.schema, merged: func(l, r value.Value) any {
		if r != nil {
			return r.Unstructured()
		}
		return l.Unstructured()
	}}
	out, errs := w.walk(nil, tv.typeRef, tv.asValue(), pso.asValue())
	if out == nil {
		return nil, errs
	}
	return *out, errs
}

// mergedViews does the work of mergeViews for values that conform. These cause no errors.
func (tv *TypedValue) mergedViews(pso *TypedValue) any {
	out, _ := tv.mergeViews(pso)
	return out
}

func (tv *TypedValue) generalCompare(rhs *TypedValue) (*Comparison, error) {
	w := &pair{schema: tv.schema, diff: &Comparison{
		Removed: fieldpath.NewSet(), Modified: fieldpath.NewSet(), Added: fieldpath.NewSet(),
	}}
	if _, errs := w.walk(nil, tv.typeRef, tv.asValue(), rhs.asValue()); len(errs) > 0 {
		return nil, errs
	}
	return w.diff, nil
}

func (tv *TypedValue) generalFields() (*fieldpath.Set, error) {
	s := fieldpath.NewSet()
	if errs := addFields(s, nil, tv.asValue(), tv.schema, tv.typeRef); len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// addFields adds to s the paths of the leaves and items of v, which is at path.
func addFields(s *fieldpath.Set, path fieldpath.Path, v value.Value, sc *schema.Schema, tr schema.TypeRef) ValidationErrors {
	atom, errs := resolved(sc, tr, v)
	switch {
	case errs != nil:
		return errs
	case atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic:
		if m := asMap(v); m != nil {
			m.Iterate(func(name string, member value.Value) bool {
				at := append(slices.Clip(path), fieldpath.FieldNameElement(name))
				tr, declared := memberType(atom.Map, name)
				errs = append(errs, addFields(s, at, member, sc, tr)...)
				if !declared || member.IsNull() || member.IsMap() && member.AsMap().Empty() {
					s.Insert(at)
				}
				return true
			})
		}
	case atom.Map != nil || atom.Scalar != nil:
		s.Insert(path)
	case atom.List != nil && atom.List.ElementRelationship != schema.Atomic:
		return addItems(s, path, v, sc, atom.List)
	case atom.List != nil:
		s.Insert(path)
	default:
		return invalid(tr)
	}
	return errs
}

// addItems does the work of addFields for the items of v, if v is a list. All items without identity share one path, whose last
// element has no field. For repeated items, it adds no paths below them.
func addItems(s *fieldpath.Set, path fieldpath.Path, v value.Value, sc *schema.Schema, t *schema.List) (errs ValidationErrors) {
	if !v.IsList() {
		return nil
	}
	list := v.AsList()
	var times fieldpath.PathElementMap
	elements := make([]fieldpath.PathElement, list.Length())
	for i := range elements {
		elements[i], _ = itemElement(sc, t, list.At(i))
		n, _ := times.Get(elements[i])
		before, _ := n.(int)
		times.Insert(elements[i], before+1)
	}
	for i, element := range elements {
		at := append(slices.Clip(path), element)
		s.Insert(at)
		if n, _ := times.Get(element); n == 1 {
			errs = append(errs, addFields(s, at, list.At(i), sc, t.ElementType)...)
		}
	}
	return errs
}

func (tv *TypedValue) generalRemove(items *fieldpath.Set, extract bool) *TypedValue {
	out := removed(tv.asValue(), items, tv.schema, tv.typeRef, extract)
	return AsTypedUnvalidated(value.NewValueInterface(out), tv.schema, tv.typeRef)
}

// removed returns v without the values at the paths of s. With extract, it returns only these values. Containers that lose all
// their parts become null.
func removed(v value.Value, s *fieldpath.Set, sc *schema.Schema, tr schema.TypeRef, extract bool) any {
	atom, errs := resolved(sc, tr, v)
	list := atom.Map == nil && atom.Scalar == nil
	switch {
	case errs != nil || atom == (schema.Atom{}):
		return nil
	case atom.Map == nil && atom.Scalar != nil:
		return v.Unstructured()
	case list && !v.IsList() || !list && !v.IsMap():
		return nil
	case isNone(v, list), list && atom.List.ElementRelationship == schema.Atomic, !list && atom.Map.ElementRelationship == schema.Atomic:
		if extract {
			return v.Unstructured()
		}
		return nil
	case list:
		return removedItems(v.AsList(), s, sc, atom.List, extract)
	}
	return removedMembers(v.AsMap(), s, sc, atom.Map, extract)
}

func removedItems(l value.List, s *fieldpath.Set, sc *schema.Schema, t *schema.List, extract bool) any {
	var out []interface{}
	for i := range l.Length() {
		item := l.At(i)
		element, _ := itemElement(sc, t, item)
		below := s.WithPrefix(element)
		in := s.Has(fieldpath.Path{element})
		if in && !extract || extract && !in && below.Empty() {
			continue
		}
		if below.Empty() {
			out = append(out, item.Unstructured())
		} else {
			out = append(out, removed(item, below, sc, t.ElementType, extract))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func removedMembers(m value.Map, s *fieldpath.Set, sc *schema.Schema, t *schema.Map, extract bool) any {
	out := map[string]interface{}{}
	m.Iterate(func(name string, member value.Value) bool {
		element := fieldpath.FieldNameElement(name)
		tr, _ := memberType(t, name)
		below := s.WithPrefix(element)
		switch in := s.Has(fieldpath.Path{element}); {
		case in && extract: // with the set of the map itself: rule X6 of deed's Extract
			out[name] = removed(member, s, sc, tr, extract)
		case in:
		case !below.Empty():
			out[name] = removed(member, below, sc, tr, extract)
		case !extract:
			out[name] = member.Unstructured()
		}
		return true
	})
	if len(out) == 0 {
		return nil
	}
	return out
}
