package builtin

import (
	"slices"

	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// Findings returns what a server's validation refuses of object, which is to be stored instead of live, as far as schemas declare it or
// it may not change; an absent live is an object that does not exist yet. It is not merging that refuses these.
//
// Validation knows more than that: an object without findings may be refused all the same, see [Kind.Refusals]. In order: what is
// wrong with object, then what may not change.
func (k *Kind) Findings(live, object value.Value) []form.Finding {
	k = k.known()
	found := k.Form().Findings(object.With("status", value.Value{})) // which servers hardly validate
	found = slices.DeleteFunc(found, func(f form.Finding) bool { return mayBeEmpty[k.GVK.Kind+f.Path.String()] })
	for _, r := range k.Refusals(live, object, "") {
		if r.Change {
			found = append(found, form.Finding{Path: r.Path, Reason: r.String()})
		}
	}
	return found
}

// mayBeEmpty are texts that schemas declare required and servers take when they are empty: the group of core kinds has no name.
var mayBeEmpty = map[string]bool{"StorageVersionMigration.spec.resource.group": true}
