package entries

import (
	"errors"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// Change is the effect of a schema change on the fields of an entry, or a part of the object that the new schema does not admit.
type Change struct {
	Object  *manifest.Object
	Owner   *manifest.Holder // nil if the change is about the object
	Where   notice.Position
	Lost    []fieldpath.Path // paths that it no longer owns, in the order of sets, like all lists here
	Gained  []fieldpath.Path // paths that it owns instead
	Hollow  []fieldpath.Path // lists and objects that become granular
	Unknown []fieldpath.Path // paths that the new schema lacks
	Detail  string
}

// Under returns the effect on e of the next write after the schema changes from old to new.
func (e Entries) Under(old, new *schema.Catalog) []Change {
	var out []Change
	about := func(where notice.Position, detail string) {
		out = append(out, Change{Object: e.Object, Where: where, Detail: detail})
	}
	t, ok := new.Lookup(e.GVK())
	if !ok {
		about(e.At("apiVersion"), "the new schema does not have the kind in this version")
		return out
	}
	var defects typed.Errors
	if _, err := typed.New(e.Content, t, typed.AllowDuplicates); errors.As(err, &defects) {
		for _, d := range defects {
			about(e.DefectAt(d), "the new schema does not admit it: "+types.Explain(e.Object, d, t))
		}
	}
	for i := range e.Owners {
		if x := e.changeOf(i, old, new); x != nil {
			out = append(out, *x)
		}
	}
	return out
}

// changeOf returns the change of entry i, or nil if it does not change.
func (e Entries) changeOf(i int, old, new *schema.Catalog) *Change {
	owner, set := &e.Owners[i], e.Sets[i]
	x := &Change{Object: e.Object, Owner: owner, Where: e.At("metadata", "managedFields", i)}
	gvk := schema.ParseGVK(owner.APIVersion, e.Id.Kind)
	t, ok := new.Lookup(gvk)
	if !ok {
		x.Detail = "the new schema does not have the kind in " + owner.APIVersion + ": the next write forgets what it owns"
		return x
	}
	after, changed, err := typed.Reconcile(set, t)
	switch {
	case err != nil:
		x.Detail = e.View().Error(err)
	case changed:
		x.Lost, x.Gained = slices.Collect(set.Minus(after).All()), slices.Collect(after.Minus(set).All())
	}
	if before, ok := old.Lookup(gvk); ok {
		x.lookUp(after, before, t)
	}
	if x.Detail == "" && len(x.Lost)+len(x.Gained)+len(x.Hollow)+len(x.Unknown) == 0 {
		return nil
	}
	return x
}

// lookUp finds the paths of set whose meaning differs between the types old and new.
func (x *Change) lookUp(set fieldpath.Set, old, new *schema.Type) {
	for path := range set.All() {
		switch was, is := types.TypeAt(old, path), types.TypeAt(new, path); {
		case was != nil && is == nil:
			x.Unknown = append(x.Unknown, path)
		case was != nil && types.IsAtomic(was) && !types.IsAtomic(is):
			x.Hollow = append(x.Hollow, path)
		}
	}
}
