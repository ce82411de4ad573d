package keywords

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Schema validates values by one schema. It is safe for concurrent use. A nil Schema finds no errors.
//
// It has two forms of the schema: the nodes judge, and the library's form finds what is wrong.
type Schema struct {
	library *spec.Schema
	root    *node
}

// Compile compiles a structural schema, such as the openAPIV3Schema of a version. If it is no object, Compile returns nil. The schema must be one
// that an API server accepts: keywords of a wrong type, and those that no structural schema has, are left out.
//
// Its cost is linear in the size of the schema. Patterns are compiled when they are first used.
func Compile(schema value.Value) *Schema {
	if schema.Kind() != value.KindObject {
		return nil
	}
	s := &Schema{library: convert(schema)}
	s.root = compile(s.library)
	return s
}

// Sound reports whether v certainly has no errors. It does not visit the parts that v shares with known, which is sound or absent.
//
// If it is false, [Schema.Faults] tells whether there are errors. If ctx is done, the outcome is meaningless.
func (s *Schema) Sound(ctx context.Context, v, known value.Value) bool {
	return s == nil || (&judging{ctx: ctx}).judge(s.root, v, known) == good
}

// Faults returns the errors of v, which is at base. live is the value that v replaces, or absent. Errors in unchanged parts do not count.
//
// The errors are in an order in which the library may find them: see [InOrder]. If ctx is done, the walk ends and its outcome is meaningless.
// Values that are [Schema.Sound] have no errors, and asking that first is cheaper.
func (s *Schema) Faults(ctx context.Context, base *field.Path, v, live value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	w := faults{judging: judging{ctx: ctx}, base: base, schema: s.library, room: api.MaxTexts}
	var was *former
	if !live.IsAbsent() {
		was = &former{was: live, node: s.root}
	}
	w.find(s.root, v, was)
	return w.all()
}

// Values returns the errors of an object. live is the object that it replaces, or absent.
func (s *Schema) Values(ctx context.Context, object, live value.Value) field.ErrorList {
	if s.Sound(ctx, object, value.Value{}) {
		return nil
	}
	return s.Faults(ctx, nil, object, live)
}

// Status returns the errors of the status of an object that a write of the status subresource stores in place of live. s is the schema of the
// status.
func (s *Schema) Status(ctx context.Context, object, live value.Value) field.ErrorList {
	status := object.Get("status")
	if status.IsAbsent() || s.Sound(ctx, status, value.Value{}) {
		return nil
	}
	was := live.Get("status")
	if was.IsAbsent() {
		was = value.Null() // so that a null status counts as unchanged
	}
	return s.Faults(ctx, field.NewPath("status"), status, was)
}
