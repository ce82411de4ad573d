package cli

import "github.com/deed-project/deed/fieldpath"

type fieldsJSON struct {
	objectJSON
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
	objectJSON
	Paths []pathJSON `json:"paths"`
}

// managersJSON returns what printManagers prints.
func (q fieldsQuery) managersJSON(objects []fieldsOf, statsOnly bool) []fieldsJSON {
	all := []fieldsJSON{}
	for _, o := range objects {
		out := fieldsJSON{o.json(), o.sizes.object, o.sizes.managed, []fieldsHolderJSON{}}
		for i, w := range o.owners {
			if !q.wants(w) {
				continue
			}
			h := fieldsHolderJSON{ownerJSON: ownersJSON([]holder{w})[0], Count: o.sets[i].Len(), Bytes: o.sizes.entries[i]}
			if !statsOnly {
				for path := range o.sets[i].All() {
					line, _ := o.place(path)
					h.Paths = append(h.Paths, pathJSON{Path: path.Text(), Line: line})
				}
			}
			out.Managers = append(out.Managers, h)
		}
		all = append(all, out)
	}
	return all
}

// setsJSON returns what printSets prints, with all owners of each path.
func (q fieldsQuery) setsJSON(objects []fieldsOf) []setJSON {
	all := []setJSON{}
	for _, o := range objects {
		out := setJSON{o.json(), []pathJSON{}}
		for path := range q.set(o).All() {
			line, _ := o.place(path)
			out.Paths = append(out.Paths, pathJSON{path.Text(), line, ownersJSON(o.ownersAt(path))})
		}
		all = append(all, out)
	}
	return all
}

// ownersAt returns who owns path itself.
func (o fieldsOf) ownersAt(path fieldpath.Path) []holder {
	var out []holder
	for i, w := range o.owners {
		if o.sets[i].Has(path) {
			out = append(out, w)
		}
	}
	return out
}
