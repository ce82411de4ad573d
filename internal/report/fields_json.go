package report

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
)

type fieldsJSON struct {
	manifest.Ref
	Bytes        int                `json:"bytes"`
	ManagedBytes int                `json:"managedFieldsBytes"`
	Managers     []fieldsHolderJSON `json:"managers"`
}

type fieldsHolderJSON struct {
	ownerJSON
	Count int        `json:"count"`
	Bytes int        `json:"bytes"`
	Paths []pathJSON `json:"paths,omitempty"`
}

type pathJSON struct {
	Path   string      `json:"path"`
	Line   int         `json:"line,omitempty"` // of the file; none if the object has no such path
	Owners []ownerJSON `json:"owners,omitempty"`
}

type setJSON struct {
	manifest.Ref
	Paths []pathJSON `json:"paths"`
}

// managersJSON returns what FieldsPrinter prints of managers.
func (q FieldsQuery) managersJSON(o FieldsOf, statsOnly bool) fieldsJSON {
	out := fieldsJSON{o.Ref(), o.sizes.object, o.sizes.managed, []fieldsHolderJSON{}}
	for i, w := range o.owners {
		if !q.wants(w) {
			continue
		}
		h := fieldsHolderJSON{ownerJSON: ownersJSON([]manifest.Holder{w})[0], Count: o.sets[i].Len(), Bytes: o.sizes.entries[i]}
		if !statsOnly {
			for at := range o.Places(o.sets[i]) {
				h.Paths = append(h.Paths, pathJSON{Path: at.Path.Text(), Line: o.line(at)})
			}
		}
		out.Managers = append(out.Managers, h)
	}
	return out
}

// line returns the line that at is in, 0 where the object has no such path.
func (o FieldsOf) line(at manifest.Place) int {
	if !at.Found {
		return 0
	}
	return o.Key(at.Steps...).Line
}

// setJSON returns what FieldsPrinter prints of sets, with all owners of each path.
func (q FieldsQuery) setJSON(o FieldsOf) setJSON {
	out := setJSON{o.Ref(), []pathJSON{}}
	for at := range o.Places(q.set(o), o.sets...) {
		var owners []manifest.Holder
		for _, i := range at.Sets {
			owners = append(owners, o.owners[i])
		}
		out.Paths = append(out.Paths, pathJSON{at.Path.Text(), o.line(at), ownersJSON(owners)})
	}
	return out
}

// ownersAt returns who owns path itself.
func (o FieldsOf) ownersAt(path fieldpath.Path) []manifest.Holder {
	var out []manifest.Holder
	for i, w := range o.owners {
		if o.sets[i].Has(path) {
			out = append(out, w)
		}
	}
	return out
}
