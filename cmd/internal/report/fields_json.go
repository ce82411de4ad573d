package report

import (
	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
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
	Line   int         `json:"line,omitempty"` // the line in the file; 0 if the object lacks the path
	Owners []ownerJSON `json:"owners,omitempty"`
}

type setJSON struct {
	manifest.Ref
	Paths []pathJSON `json:"paths"`
}

// managersOf returns the managers of o in q, without their paths if statsOnly is set.
func managersOf(o entries.Entries, q entries.Query, statsOnly bool) fieldsJSON {
	sizes, view := entries.SizesOf(o.Object), o.View()
	out := fieldsJSON{o.Ref(), sizes.Object, sizes.Managed, []fieldsHolderJSON{}}
	for i, w := range o.Owners {
		if !q.Wants(w) {
			continue
		}
		h := fieldsHolderJSON{ownerJSON: ownersJSON([]manifest.Holder{w})[0], Count: o.Sets[i].Len(), Bytes: sizes.Entries[i]}
		if !statsOnly {
			for at := range o.Places(o.Sets[i]) {
				h.Paths = append(h.Paths, pathJSON{Path: view.Path(at.Path), Line: lineOf(o, at)})
			}
		}
		out.Managers = append(out.Managers, h)
	}
	return out
}

// lineOf returns the line of at in o, or 0 if o lacks the path.
func lineOf(o entries.Entries, at manifest.Place) int {
	if !at.Found {
		return 0
	}
	return o.Key(at.Steps...).Line
}

// setOf returns the paths of o in q, with all owners of each.
func setOf(o entries.Entries, q entries.Query) setJSON {
	out, view := setJSON{o.Ref(), []pathJSON{}}, o.View()
	for at := range o.Places(q.Set(o), o.Sets...) {
		var owners []manifest.Holder
		for _, i := range at.Sets {
			owners = append(owners, o.Owners[i])
		}
		out.Paths = append(out.Paths, pathJSON{view.Path(at.Path), lineOf(o, at), ownersJSON(owners)})
	}
	return out
}
