package rbac

import (
	"github.com/deed-project/deed/server/store/replica"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// stored returns a replica of the objects of a resource, which are of Go type T.
func stored[T any](prefix string) replica.Replica[*T] {
	return replica.Replica[*T]{Prefix: prefix, Derive: func(object value.Value) (*T, error) {
		out := new(T)
		return out, structs.Into(object, out)
	}}
}
