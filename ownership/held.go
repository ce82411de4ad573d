package ownership

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The fields that each entry holds of an object. An entry has the version in which its manager
// wrote, which may differ from the object's. To compare entries, their fields must be in one
// version:
//
//	entry, v1     .spec.size            written
//	object, v2    {spec: {quota: {size: 3}}}
//	in v1         {spec: {size: 3}}     the object, converted
//	the part      {spec: {size: 3}}     the values at the entry's paths
//	in v2         {spec: {quota: {size: 3}}}
//	fields        .spec.quota.size      the fields of that part in v2
//
// Cost: a few conversions and walks of the object for each entry of another version, and one more
// for each value that a conversion makes up; none if versions differ only in their names.

// Versions has the types of the versions of one kind, and converts between them. It serves to read
// entries of another version than their object.
type Versions struct {
	Types     map[string]*schema.Type // by apiVersion
	Converter managedfields.Converter // nil means [managedfields.ChangeVersion]
}

// ErrVersion reports an entry of another version than its object, without [Versions] to convert its
// fields.
var ErrVersion = errors.New("the entry is of another version than the object")

// held has the fields of an object that one entry holds.
type held struct {
	index   int // of the entry
	manager merge.Manager
	written fieldpath.Set // in the entry's own version, as it is stored
	fields  fieldpath.Set // in the object's version, adapted to its type
	err     error         // why fields are unknown
}

// holdings reads each entry of o, a value of type t. If a manager has several entries, only the
// last one counts. nil versions means that only the version of o is known.
func holdings(o managedfields.Object, t *schema.Type, versions *Versions) []held {
	last := map[merge.Manager]int{}
	for i, e := range o.Entries {
		last[managing.Identity(e)] = i
	}
	out := make([]held, 0, len(last))
	for i, e := range o.Entries {
		if last[managing.Identity(e)] == i {
			out = append(out, hold(o, t, versions, i))
		}
	}
	return out
}

// hold reads entry i of o, a value of type t.
func hold(o managedfields.Object, t *schema.Type, versions *Versions, i int) held {
	e, err := managing.Read(o.Entries, i)
	h := held{index: i, manager: e.Manager, written: e.Fields, err: err}
	if err != nil {
		return h
	}
	switch {
	case e.APIVersion == o.Content.Get("apiVersion").Str():
		h.fields, _, err = typed.Reconcile(e.Fields, t)
	case versions == nil:
		err = fmt.Errorf("%w: %s", ErrVersion, e.APIVersion)
	default:
		h.fields, err = versions.translate(o.Content, t, e.Fields, e.APIVersion)
	}
	if err != nil {
		h.err = &managedfields.EntryError{Index: i, Manager: e.Manager.Name, Err: err}
	}
	return h
}

// into converts fields of o between two versions. If these differ and v is nil, the error wraps
// [ErrVersion].
func (v *Versions) into(o managedfields.Object, fields fieldpath.Set, from, to string) (fieldpath.Set, error) {
	switch {
	case from == to:
		return fields, nil
	case v == nil:
		return fieldpath.Set{}, fmt.Errorf("%w: from %s to %s", ErrVersion, from, to)
	}
	t := v.Types[to]
	if t == nil {
		return fieldpath.Set{}, managing.NoType(schema.ParseGVK(to, o.Content.Get("kind").Str()))
	}
	object := o.Content
	if object.Get("apiVersion").Str() != to {
		var err error
		if object, err = v.converter().Convert(object, to); err != nil {
			return fieldpath.Set{}, err
		}
	}
	return v.translate(object, t, fields, from)
}

// converter returns the converter between the versions.
func (v *Versions) converter() managedfields.Converter {
	if v.Converter == nil {
		return managedfields.ChangeVersion
	}
	return v.Converter
}

// translate converts fields from another version to that of object, a value of type t. If versions
// differ only in their names, the paths are the same. Otherwise object is converted to the other
// version, and the part at the fields is converted back. The keys of its items count as owned.
// Values that a conversion makes up do not, such as defaults.
func (v *Versions) translate(object value.Value, t *schema.Type, fields fieldpath.Set, from string) (fieldpath.Set, error) {
	there := v.Types[from]
	if there == nil {
		return fieldpath.Set{}, managing.NoType(schema.ParseGVK(from, object.Get("kind").Str()))
	}
	if v.converter() == managedfields.ChangeVersion {
		fields, _, err := typed.Reconcile(fields, t)
		return fields, err
	}
	c := crossing{v.converter(), object.Get("apiVersion").Str(), t, from, there}
	whole, err := c.over(object)
	if err != nil {
		return fieldpath.Set{}, err
	}
	if fields, _, err = typed.Reconcile(fields, there); err != nil {
		return fieldpath.Set{}, err
	}
	part := typing.ExtractWithKeys(whole, fields.Leaves()).Content()
	back, err := c.back(withIdentity(part, whole.Content()))
	if err != nil {
		return fieldpath.Set{}, err
	}
	held := back.Fields().Minus(managing.SystemFields().Minus(fields))
	bare, err := c.back(withIdentity(value.Object(), whole.Content()))
	if err != nil { // there is nothing that a conversion makes up
		return held, nil
	}
	// A value that comes back without the part may still be of the part: 80 % is also a default. It
	// is of the part if the part is another one without it.
	current, err := typed.New(object, t, typed.AllowDuplicates)
	if err != nil {
		return fieldpath.Set{}, err
	}
	var madeUp fieldpath.Builder
	for at := range typed.Walk(held, []typed.Value{back, bare}) {
		if at.Values[1].IsAbsent() || !at.Values[0].Equal(at.Values[1]) {
			continue
		}
		without, err := c.over(current.Remove(fieldpath.SetOf(at.Path)).Content())
		if err == nil && typing.ExtractWithKeys(without, fields.Leaves()).Content().Equal(part) {
			madeUp.Add(at.Path)
		}
	}
	return held.Minus(madeUp.Set()), nil
}

// crossing converts objects from one version to another and back.
type crossing struct {
	managedfields.Converter
	near     string // the version of the object
	nearType *schema.Type
	far      string // the version of the fields
	farType  *schema.Type
}

// over converts an object to the far version.
func (c crossing) over(object value.Value) (typed.Value, error) {
	return c.to(object, c.far, c.farType)
}

// back converts a part of an object of the far version to the near one.
func (c crossing) back(part value.Value) (typed.Value, error) {
	return c.to(part, c.near, c.nearType)
}

func (c crossing) to(object value.Value, apiVersion string, t *schema.Type) (typed.Value, error) {
	converted, err := c.Convert(object, apiVersion)
	if err != nil {
		return typed.Value{}, err
	}
	return typed.New(converted, t, typed.AllowDuplicates)
}
