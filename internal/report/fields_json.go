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

// ManagersJSON returns what printManagers prints.
func (q FieldsQuery) ManagersJSON(objects []FieldsOf, statsOnly bool) []fieldsJSON {
	all := []fieldsJSON{}
	for _, o := range objects {
		out := fieldsJSON{o.Ref(), o.sizes.object, o.sizes.managed, []fieldsHolderJSON{}}
		for i, w := range o.owners {
			if !q.wants(w) {
				continue
			}
			h := fieldsHolderJSON{ownerJSON: ownersJSON([]manifest.Holder{w})[0], Count: o.sets[i].Len(), Bytes: o.sizes.entries[i]}
			if !statsOnly {
				for path := range o.sets[i].All() {
					line, _ := o.Place(path)
					h.Paths = append(h.Paths, pathJSON{Path: path.Text(), Line: line})
				}
			}
			out.Managers = append(out.Managers, h)
		}
		all = append(all, out)
	}
	return all
}

// SetsJSON returns what printSets prints, with all owners of each path.
func (q FieldsQuery) SetsJSON(objects []FieldsOf) []setJSON {
	all := []setJSON{}
	for _, o := range objects {
		out := setJSON{o.Ref(), []pathJSON{}}
		for path := range q.set(o).All() {
			line, _ := o.Place(path)
			out.Paths = append(out.Paths, pathJSON{path.Text(), line, ownersJSON(o.ownersAt(path))})
		}
		all = append(all, out)
	}
	return all
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
