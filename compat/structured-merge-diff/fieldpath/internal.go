package fieldpath

import (
	deed "github.com/deed-project/deed/fieldpath"
	deedvalue "github.com/deed-project/deed/value"
	"sigs.k8s.io/structured-merge-diff/v6/internal/door"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Internal gives the other packages of this module access to functions outside the API.
type Internal = door.Door[internal]

type internal struct{}

// Deed returns s as a set of deed.
func (internal) Deed(s *Set) deed.Set { return s.deed() }

// Wrap returns s as a Set. read reports whether it was read from fieldsV1. Its numbers are then floats, as a JSON parser
// returns them.
func (internal) Wrap(s deed.Set, read bool) *Set { return wrap(s, read) }

// WasRead reports whether the numbers in s are floats, because it was read from fieldsV1.
func (internal) WasRead(s *Set) bool { return s.wasRead() }

// Path returns p as a Path. For read, see Wrap.
func (internal) Path(p deed.Path, read bool) Path {
	out := make(Path, len(p))
	for i, e := range p {
		out[i] = fromDeed(e, read)
	}
	return out
}

// Excluded returns the set that f, a filter of [NewExcludeSetFilter], removes. It returns false for every other filter.
func (internal) Excluded(f Filter) (*Set, bool) {
	e, ok := f.(excludeFilter)
	return e.exclude, ok
}

// toDeed returns e as an element of deed. An element without a field becomes the zero Element.
func (e PathElement) toDeed() deed.Element {
	switch e.kind() {
	case 0:
		return deed.Field(*e.FieldName)
	case 1:
		var room [4]deed.KeyField
		fields := room[:0]
		for _, f := range *e.Key {
			fields = append(fields, deed.KeyField{Name: f.Name, Value: document(f.Value)})
		}
		return deed.Key(fields...)
	case 2:
		return deed.Item(document(*e.Value))
	case 3:
		return deed.Index(*e.Index)
	}
	return deed.Element{}
}

// document returns v as a document of deed, or null if v cannot be a document.
func document(v value.Value) deedvalue.Value {
	switch {
	case v == nil:
		return deedvalue.Null()
	case v.IsString():
		return deedvalue.String(v.AsString())
	case v.IsInt():
		return deedvalue.Int(v.AsInt())
	case v.IsBool():
		return deedvalue.Bool(v.AsBool())
	}
	doc, _, err := new(value.Reader).Read(v)
	if err != nil {
		return deedvalue.Null()
	}
	return doc
}

// toDeed returns fp as a path of deed.
func (fp Path) toDeed() deed.Path {
	out := make(deed.Path, len(fp))
	for i, e := range fp {
		out[i] = e.toDeed()
	}
	return out
}

// fromDeed returns e as a PathElement. With read, its numbers are floats.
func fromDeed(e deed.Element, read bool) PathElement {
	switch e.Kind() {
	case deed.KindField:
		name := e.Name()
		return PathElement{FieldName: &name}
	case deed.KindKey:
		fields := e.Fields()
		key := make(value.FieldList, len(fields))
		for i, f := range fields {
			key[i] = value.Field{Name: f.Name, Value: fromDocument(f.Value, read)}
		}
		return PathElement{Key: &key}
	case deed.KindItem:
		v := fromDocument(e.Value(), read)
		return PathElement{Value: &v}
	case deed.KindIndex:
		i := e.Index()
		return PathElement{Index: &i}
	}
	return PathElement{}
}

// fromDocument returns a view of v. With read, its numbers are floats.
func fromDocument(v deedvalue.Value, read bool) value.Value {
	x := v.ToAny()
	if read {
		x = floats(x)
	}
	return value.NewValueInterface(x)
}

// floats returns x with every integer replaced by a float. It changes maps and slices in place.
func floats(x any) any {
	switch x := x.(type) {
	case int64:
		return float64(x)
	case []any:
		for i := range x {
			x[i] = floats(x[i])
		}
	case map[string]any:
		for name := range x {
			x[name] = floats(x[name])
		}
	}
	return x
}
