package types

import (
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// DefaultsAt returns the default values that a server fills in at paths of object, by path. It knows only defaults that the code of
// built-in kinds fills in, not those of schemas. The cost is one read of object and a walk to the paths.
func DefaultsAt(object managedfields.Object, paths fieldpath.Set) map[secret.Key]value.Value {
	kind, ok := builtin.Lookup(object.GVK())
	if !ok || paths.IsEmpty() {
		return nil
	}
	held, err := kind.Held(object.Content)
	if err != nil {
		return nil // a server cannot store the object, so it has no defaults; the defect is reported elsewhere
	}
	out := map[secret.Key]value.Value{}
	for step := range typed.Walk(paths, []typed.Value{typed.Untyped(held)}) {
		if v := step.Values[0]; !v.IsAbsent() {
			out[secret.KeyOf(step.Path)] = v
		}
	}
	return out
}
