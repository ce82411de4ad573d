package histories

import (
	"slices"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// listed reports whether d is a difference that random histories meet and docs/divergences.md lists, as fields-sorted-as-text:
// entries differ in times alone, and a fieldsV1 sorts otherwise as text than as a set.
func listed(d *Difference) bool {
	if d.Part != "entries" {
		return false
	}
	reference, ok := entriesIn(d.Reference)
	if !ok || !slices.ContainsFunc(reference, sortsOtherwise) {
		return false
	}
	deed, ok := entriesIn(d.Deed)
	return ok && slices.EqualFunc(sorted(reference), sorted(deed), func(a, b managedfields.Entry) bool {
		return a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion &&
			a.Subresource == b.Subresource && a.FieldsV1.Equal(b.FieldsV1)
	})
}

func entriesIn(list string) ([]managedfields.Entry, bool) {
	o, err := managedfields.ParseObject([]byte(`{"metadata":{"managedFields":` + list + `}}`))
	return o.Entries, err == nil
}

func sortsOtherwise(e managedfields.Entry) bool {
	v, err := value.Parse(e.FieldsV1.AppendJSON(nil))
	return err == nil && !e.FieldsV1.IsAbsent() && v.String() != e.FieldsV1.String()
}

// sorted returns entries without times, in an order that does not depend on them.
func sorted(entries []managedfields.Entry) []managedfields.Entry {
	managers, err := managedfields.Decode(entries)
	if err != nil {
		return entries
	}
	out := managedfields.Encode(managers)
	for i := range out {
		out[i].Time = time.Time{}
	}
	slices.SortStableFunc(out, func(a, b managedfields.Entry) int {
		return slices.Compare([]string{a.Manager, string(a.Operation), a.APIVersion, a.Subresource},
			[]string{b.Manager, string(b.Operation), b.APIVersion, b.Subresource})
	})
	return out
}
