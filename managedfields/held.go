package managedfields

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Versions says how the versions of one kind belong together, for reading entries that are of another version than their
// object.
type Versions struct {
	Types     map[string]*schema.Type // by apiVersion
	Converter Converter               // nil means [ChangeVersion]
}

// ErrVersion is an entry that is of another version than its object, without [Versions] to read it by.
var ErrVersion = errors.New("the entry is of another version than the object")

// held is what one entry holds of an object, in the object's version.
type held struct {
	index   int // of the entry
	manager merge.Manager
	written fieldpath.Set // in the entry's own version, as it stands there
	fields  fieldpath.Set // in the object's version, adapted to its type
	err     error         // why fields are not known
}

// holdings reads the entries of o, a t, each for itself. Of several entries of one manager the last one counts; the others
// are left out. nil versions means that there is only the object's own.
func holdings(o Object, t *schema.Type, versions *Versions) []held {
	last := map[merge.Manager]int{}
	for i, e := range o.Entries {
		last[identityOf(e)] = i
	}
	out := make([]held, 0, len(o.Entries))
	for i, e := range o.Entries {
		if last[identityOf(e)] == i {
			h := held{index: i, manager: identityOf(e)}
			h.written, h.fields, h.err = readEntry(o, t, versions, i)
			out = append(out, h)
		}
	}
	return out
}

// identityOf returns the manager that e is of.
func identityOf(e Entry) merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
	if e.Operation == merge.Apply {
		m.APIVersion = ""
	}
	return m
}

// readEntry returns the set of entry i as it is written, and in o's version.
func readEntry(o Object, t *schema.Type, versions *Versions, i int) (written, fields fieldpath.Set, err error) {
	e := o.Entries[i]
	if err = e.check(i); err == nil {
		written, err = readFields(o.Entries, i)
	} else {
		err = &EntryError{Index: i, Manager: e.Manager, Err: err}
	}
	if err != nil {
		return written, fields, err
	}
	switch {
	case e.APIVersion == o.Content.Get("apiVersion").Str():
		fields, _, err = typed.Reconcile(written, t)
	case versions == nil:
		err = fmt.Errorf("%w: %s", ErrVersion, e.APIVersion)
	default:
		fields, err = versions.translate(o.Content, t, written, e.APIVersion)
	}
	if err != nil {
		err = &EntryError{Index: i, Manager: e.Manager, Err: err}
	}
	return written, fields, err
}

// translate returns the fields of object, a t, that are what fields are in version from. Where versions differ in nothing but
// their names, the paths are the same. Else the part of the object that fields lead to is converted there and back; with an
// item, its keys count as owned.
func (v *Versions) translate(object value.Value, t *schema.Type, fields fieldpath.Set, from string) (fieldpath.Set, error) {
	there, ok := v.Types[from]
	if !ok {
		return fieldpath.Set{}, &NoTypeError{GVK: schema.ParseGVK(from, object.Get("kind").Str())}
	}
	converter := v.Converter
	if converter == nil || converter == ChangeVersion {
		fields, _, err := typed.Reconcile(fields, t)
		return fields, err
	}
	converted, err := converter.Convert(object, from)
	if err != nil {
		return fieldpath.Set{}, err
	}
	whole, err := typed.New(converted, there, typed.AllowDuplicates)
	if err != nil {
		return fieldpath.Set{}, err
	}
	if fields, _, err = typed.Reconcile(fields, there); err != nil {
		return fieldpath.Set{}, err
	}
	part := withIdentity(whole.ExtractWithKeys(fields.Leaves()).Content(), converted)
	if part, err = converter.Convert(part, object.Get("apiVersion").Str()); err != nil {
		return fieldpath.Set{}, err
	}
	back, err := typed.New(part, t, typed.AllowDuplicates)
	if err != nil {
		return fieldpath.Set{}, err
	}
	return back.Fields().Minus(systemFields.Minus(fields)), nil
}
