// Package entries reads the entries of an object's managed fields. It computes the paths and the size of each, and the effect of another
// schema.
//
// Its nouns are [Entries], [Sizes], [Query] and [Change]. Package report prints them.
package entries

import (
	"errors"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
)

// Entries holds the entries of an object.
type Entries struct {
	*manifest.Object
	Owners []manifest.Holder // one for each entry
	Sets   []fieldpath.Set   // the owned paths of each; empty if the entry is unreadable
}

// Of reads the entries of o. The error joins a [*managedfields.EntryError] for each unreadable entry.
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

// OwnersAt returns the owners of path itself, without the owners of paths above or below it.
func (e Entries) OwnersAt(path fieldpath.Path) []manifest.Holder {
	var out []manifest.Holder
	for i, owner := range e.Owners {
		if e.Sets[i].Has(path) {
			out = append(out, owner)
		}
	}
	return out
}
