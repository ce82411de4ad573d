package builtin

import (
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// Namespaces returns the resource namespaces. now is the clock of managed fields.
//
// The deletion of a namespace waits for spec.finalizers, which the server removes after it deletes the content. The phase is Active or
// Terminating. The endpoints write different fields:
//
//	namespaces           all fields except spec.finalizers and the status
//	namespaces/status    the status
//	namespaces/finalize  spec.finalizers
func Namespaces(now func() time.Time) (*catalog.Resource, error) {
	kind, _ := builtin.Lookup(schema.GVK{Version: "v1", Kind: "Namespace"})
	kind = kind.WithClock(now)
	of := kinds.Of(kind)
	r := resourceOf(of)
	v, err := versionOf(builtin.Lookup, r, of, now)
	if err != nil {
		return nil, err
	}
	v.Finalize = managerOf(kind, "finalize")
	v.Form = namespaceForm{v.Form.(*kindForm)}
	r.Versions = []*catalog.Version{v}
	return r, nil
}

// namespaceForm adds to kindForm that the deletion of a namespace waits for its content.
type namespaceForm struct{ *kindForm }

// PrepareDelete returns live in the phase Terminating.
func (namespaceForm) PrepareDelete(live value.Value) value.Value {
	return live.With("status", live.Get("status").With("phase", value.String("Terminating")))
}

// BlocksDeletion reports whether object has spec.finalizers, or is not being deleted yet: a namespace goes only after its content.
//
// So the first delete only marks the namespace. Removing the last finalizer afterwards removes it.
func (namespaceForm) BlocksDeletion(object value.Value) bool {
	return object.Get("spec", "finalizers").Len() > 0 || object.Get("metadata", "deletionTimestamp").IsAbsent()
}
