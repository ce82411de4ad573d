package typed

import (
	"fmt"

	deed "github.com/deed-project/deed/typed"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ReconcileFieldSetWithSchema adapts fieldset, which was made under an earlier schema, to the type of tv. It replaces the paths
// below a list or map that is now atomic with the path of that list or map. It returns nil if nothing changes.
func ReconcileFieldSetWithSchema(fieldset *fieldpath.Set, tv *TypedValue) (*fieldpath.Set, error) {
	t := schemas.Compile(tv.schema, tv.typeRef)
	if t == nil {
		return nil, fmt.Errorf("errors reconciling field set with schema: could not resolve %v", tv.typeRef)
	}
	adapted, changed, err := deed.Reconcile(paths.Deed(fieldset), t.Type)
	if err != nil || !changed {
		return nil, err
	}
	return paths.Wrap(adapted, paths.WasRead(fieldset)), nil
}
