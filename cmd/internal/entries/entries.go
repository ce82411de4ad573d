// Package entries knows what each entry of an object's managed fields owns, how many bytes that
// takes, and what becomes of it under another schema.
//
// Its nouns are [Entries], [Sizes], [Query] and [Change]. How they read is the business of package
// report.
package entries

import (
	"errors"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
)

// Entries are the entries of an object.
type Entries struct {
	*manifest.Object
	Owners []manifest.Holder // one for each entry
	Sets   []fieldpath.Set   // what these own; nothing if the entry cannot be read
}

// Of reads the entries of o. The error says which cannot be read, each as a
// [*managedfields.EntryError].
func Of(o *manifest.Object) (Entries, error) {
	out := Entries{o, manifest.OwnersOf(o), make([]fieldpath.Set, len(o.Entries))}
	var defects []error
	for i, e := range o.Entries {
		var err error
		if out.Sets[i], err = e.FieldsV1.Set(); err != nil {
			defects = append(defects, &managedfields.EntryError{Index: i, Manager: e.Manager, Err: err})
		}
	}
	return out, errors.Join(defects...)
}

// OwnersAt returns who owns path itself, whoever owns what is above or below it.
func (e Entries) OwnersAt(path fieldpath.Path) []manifest.Holder {
	var out []manifest.Holder
	for i, owner := range e.Owners {
		if e.Sets[i].Has(path) {
			out = append(out, owner)
		}
	}
	return out
}
