package types

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// Finding is a reason why a server refuses an object with declared fields only. The reason is never the merging of the object.
type Finding struct {
	Path   fieldpath.Path // in the notation of managed fields; empty for the whole object
	Class  string
	reason secret.Raw // in the words of the server
}

// NewFinding returns a finding. reason is in the words of the server.
func NewFinding(path fieldpath.Path, class string, reason secret.Raw) Finding {
	return Finding{path, class, reason}
}

// The classes of findings.
const (
	RequiredClass    = "required"    // a required field is missing or empty
	UnsupportedClass = "unsupported" // a text is not among those that the field allows
	InvalidClass     = "invalid"     // a value is wrong in another way
	ForbiddenClass   = "forbidden"   // a field must not be there
	ImmutableClass   = "immutable"   // an immutable field changes
	UnreadableClass  = "unreadable"  // a value does not fit into the Go type of its field
	UnservedClass    = "unserved"    // no server has the version
	RefusedClass     = "refused"     // the server refuses the whole object, such as by an admission policy
)

// Findings returns the reasons why the validation of a server refuses object, which replaces live. An absent live means that the object is
// new. The rules are those of deed-apiserver for built-in kinds: see package kinds of the server. Findings takes time in proportion to both
// objects. An unchanged object has no findings, because the server accepted it before.
func (e *Endpoint) Findings(live, object value.Value) []Finding {
	k, ok := e.kind()
	if !ok || live.Same(object) {
		return nil
	}
	if held, err := k.Held(live); err == nil && !live.IsAbsent() {
		live = held // files may lack values that a server has filled in
	}
	sent := object
	if held, err := k.Held(object); err == nil {
		object = held // likewise, if an apply changes nothing
	}
	subresource := managing.Config(e.Manager).Subresource
	live, object = requested(k, live, object)
	object = k.WithEmpties(subresource, live.IsAbsent(), k.Admit(object, live), sent)
	errs := k.Refused(context.Background(), object, live, subresource)
	var fresh field.ErrorList
	if len(errs) > 0 && !live.IsAbsent() {
		fresh = k.Refused(context.Background(), object, value.Value{}, subresource)
	}
	var out []Finding
	said := map[string]bool{}
	for _, err := range errs {
		text := err.ErrorBody()
		if said[err.Field+text] {
			continue // a server says it once, too
		}
		said[err.Field+text] = true
		path := Named(e.Typ, object, kinds.PathIn(object, err.Field))
		out = append(out, Finding{path, classOf(err, live, fresh), secret.RawText(text)})
	}
	return out
}

// requested returns live and object with what objects in files lack, and objects of requests have: a name instead of generateName, a
// namespace, the metadata that only the server writes, and what the server generates from it.
func requested(k kinds.Kind, live, object value.Value) (value.Value, value.Value) {
	metadata, was := object.Get("metadata"), live.Get("metadata")
	if metadata.Kind() != value.KindObject || !live.IsAbsent() && was.Kind() != value.KindObject {
		return live, object
	}
	if prefix := metadata.Get("generateName").Str(); prefix != "" && metadata.Get("name").Str() == "" {
		metadata = metadata.With("name", value.String(prefix[:min(len(prefix), 58)]+"00000"))
	}
	fill := func(metadata value.Value, name, otherwise string) value.Value {
		if metadata.Get(name).Str() != "" {
			return metadata
		}
		return metadata.With(name, value.String(otherwise))
	}
	namespace := metadata.Get("namespace").Str()
	if k.Namespaced {
		namespace = cmp.Or(namespace, was.Get("namespace").Str(), "default")
	}
	metadata = metadata.With("namespace", value.Value{})
	if k.Namespaced {
		metadata = metadata.With("namespace", value.String(namespace))
	}
	if live.IsAbsent() {
		metadata = fill(metadata, "uid", madeUpUID)
		object = object.With("metadata", metadata)
		return live, k.Complete(object, live, metadata.Get("uid"))
	}
	was = fill(fill(fill(was, "uid", madeUpUID), "resourceVersion", "1"), "name", metadata.Get("name").Str())
	was = was.With("namespace", metadata.Get("namespace"))
	for _, name := range serverWritten {
		metadata = metadata.With(name, was.Get(name))
	}
	live, object = live.With("metadata", was), object.With("metadata", metadata)
	if whole := k.Complete(live, value.Value{}, was.Get("uid")); !whole.Equal(live) { // no server has stored it
		return whole, k.Complete(object, value.Value{}, was.Get("uid"))
	}
	return live, k.Complete(object, live, value.Value{})
}

// madeUpUID stands for the UID of an object that has none yet.
const madeUpUID = "00000000-0000-0000-0000-000000000000"

// serverWritten are the members of metadata that only the server writes.
var serverWritten = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// Reading returns the findings of a server that reads the whole object. The version is not served, a value does not fit into the Go type of
// its field, or the validation refuses it. It takes time in proportion to object.
func (e *Endpoint) Reading(object value.Value) []Finding {
	k, ok := e.kind()
	if !ok {
		return nil
	}
	config, err := k.Config("")
	if err != nil {
		return []Finding{{fieldpath.Path{fieldpath.Field("apiVersion")}, UnservedClass, secret.RawText(err.Error())}}
	}
	held, err := config.Read(object)
	var unfit *form.Error
	if errors.As(err, &unfit) {
		return []Finding{{Named(e.Typ, object, unfit.Path), UnreadableClass, secret.RawText(err.Error())}}
	}
	return e.Findings(value.Value{}, held)
}

// Allocates returns the values that a server adds to object, which replaces live: see [kinds.Kind.Allocates].
func (e *Endpoint) Allocates(live, object value.Value) []kinds.Allocated {
	k, ok := e.kind()
	if !ok {
		return nil
	}
	return k.Allocates(live, object)
}

// KeepsNothingAt reports whether a server may store no value at path in object, an object of the endpoint's kind, although a manager
// applied one. A server drops empty values, and stores some values at another path.
func (e *Endpoint) KeepsNothingAt(path fieldpath.Path, object value.Value) bool {
	k, ok := e.kind()
	if !ok {
		return false
	}
	folded := k.Folded(path)
	return k.LeavesOut(path) || !slices.Equal(folded, path) && !manifest.Lookup(object, folded).IsAbsent()
}

// Folded returns the path at which a server stores a value that is written to path: see [builtin.Kind.Folded].
func (e *Endpoint) Folded(path fieldpath.Path) fieldpath.Path {
	k, ok := e.kind()
	if !ok {
		return path
	}
	return k.Folded(path)
}

// kind returns the built-in kind of the endpoint, if it has one.
func (e *Endpoint) kind() (kinds.Kind, bool) {
	if !e.builtIn || e.bare {
		return kinds.Kind{}, false
	}
	k, ok := builtin.Lookup(managing.Config(e.Manager).GVK)
	if !ok {
		return kinds.Kind{}, false
	}
	return kinds.Of(k), true
}

// Named returns path, which leads to a value in v of type t, with list items in the notation of managed fields.
//
//	.spec.containers[0].image    becomes    .spec.containers[name="web"].image
func Named(t *schema.Type, v value.Value, path fieldpath.Path) fieldpath.Path {
	var out fieldpath.Path
	for _, step := range path {
		var list *schema.List
		if t != nil {
			list = t.List()
		}
		t = TypeAt(t, fieldpath.Path{step})
		if step.Kind() == fieldpath.KindField {
			v = v.Get(step.Name())
			out = append(out, step)
			continue
		}
		v = v.Item(step.Index())
		out = append(out, identity(list, v, step))
	}
	return out
}

// identity returns the element of item of list in managed fields, or otherwise if they do not identify it.
func identity(list *schema.List, item value.Value, otherwise fieldpath.Element) fieldpath.Element {
	switch {
	case list == nil:
		return otherwise
	case list.Topology() == schema.SetList:
		return fieldpath.Item(item)
	case list.Topology() != schema.KeyedList:
		return otherwise
	}
	var fields []fieldpath.KeyField
	for _, key := range list.Keys() {
		own := item.Get(key.Name)
		if own.IsAbsent() {
			own = key.Default
		}
		if !own.IsAbsent() {
			fields = append(fields, fieldpath.KeyField{Name: key.Name, Value: own})
		}
	}
	if len(fields) == 0 {
		return otherwise
	}
	return fieldpath.Key(fields...)
}

// classOf returns the class of an error about an object that replaces live. fresh holds the errors of the same object if it is new: an error
// that is not among them is about a change.
func classOf(err *field.Error, live value.Value, fresh field.ErrorList) string {
	same := func(other *field.Error) bool {
		return other.Field == err.Field && other.Type == err.Type && other.Detail == err.Detail
	}
	switch {
	case !live.IsAbsent() && !slices.ContainsFunc(fresh, same):
		return ImmutableClass
	case err.Type == field.ErrorTypeRequired:
		return RequiredClass
	case err.Type == field.ErrorTypeNotSupported:
		return UnsupportedClass
	case err.Type == field.ErrorTypeForbidden:
		return ForbiddenClass
	}
	return InvalidClass
}

// Reason returns the reason, in the words of the server if they are known. view masks it.
func (f Finding) Reason(view secret.View) string { return view.Reason(f.Path, f.reason) }

// Text returns the reason, and says that not the merging refuses the object.
func (f Finding) Text(view secret.View) string {
	switch f.Class {
	case UnreadableClass, UnservedClass, RefusedClass:
		return f.Reason(view)
	}
	return fmt.Sprintf("%s (the server's validation refuses this, not its merging)", f.Reason(view))
}
