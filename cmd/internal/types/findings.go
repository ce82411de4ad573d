package types

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
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

// Validation is what a server does with objects beside merging them. Package validation has that of deed-apiserver, which takes large
// libraries: a program that leaves it out sets none.
type Validation interface {
	// Validate returns what a server finds in object, of kind k and type t, which replaces live or is new. sent is what object was read from: it
	// may have empty lists and maps that object lacks. An object that is the same as live has no findings, and may have warnings.
	Validate(k *builtin.Kind, t *schema.Type, subresource string, live, object, sent value.Value) Validated
	// Custom returns the validation of the custom resources that a CustomResourceDefinition defines in a version. The first use of it takes
	// time in proportion to the schema of the version.
	Custom(definition value.Value, version string) CustomValidation
	// StatusCreates reports whether an apply or an update of the status creates an object of kind k that is not stored.
	StatusCreates(k *builtin.Kind, apply bool) bool
	// Allocates returns the values that a server adds to object, of kind k, in place of live.
	Allocates(k *builtin.Kind, live, object value.Value) []Allocated
	// Warnings returns the warnings about a version: that it is deprecated in a release, and that servers of the release serve it on request
	// only. definition is the CustomResourceDefinition of the kind, which is absent for built-in kinds.
	Warnings(gvk schema.GVK, release *builtin.Release, definition value.Value) []string
}

// CustomValidation is the validation of custom resources of one kind in one version.
type CustomValidation interface {
	// Validate returns what a server finds in object, of type t, which replaces live or is new. Only CEL rules refuse an object that equals
	// live.
	Validate(t *schema.Type, subresource string, live, object value.Value) Validated
}

// Warning is a warning in the words of a server, which may quote values.
type Warning struct {
	Path fieldpath.Path // of the value, as the text says; empty for the whole object
	text secret.Raw
}

// NewWarning returns a warning about the value at path with a text of the server.
func NewWarning(path fieldpath.Path, text secret.Raw) Warning { return Warning{path, text} }

// Text returns the warning. view masks it.
func (w Warning) Text(view secret.View) string { return view.Reason(w.Path, w.text) }

// Validated is the result of a validation.
type Validated struct {
	Findings  []Finding // the reasons why a server refuses the object
	Warnings  []Warning // what a server warns of
	Unchecked string    // what a server checks and this program cannot, with the reason; "" if there is no such thing
}

// Allocated is a part of objects that only a server knows.
type Allocated struct {
	Paths  []string // names of members with spaces between them; * is each item of a list, and a=b the items whose member a is b
	Reason string
}

// Validate returns what the validation of a server finds in object, the outcome of a write to live, before the server stores it and reads it
// back. A live object without content means that object is new. Nothing is found without a [Validation], and in kinds that are neither built in
// nor defined by a CustomResourceDefinition. An unchanged object has no findings, because the server accepted it before, except for those of
// CEL rules about changes. Validate takes time in proportion to both objects.
func (e *Endpoint) Validate(live, object managedfields.Object) Validated {
	if e.validation == nil {
		return Validated{}
	}
	if e.custom != nil && !e.bare {
		was, now := live.Content, e.written(live.Content, object)
		if was.Equal(now) { // a CEL rule about the whole object sees a change of its owners
			was, now = ownedBy(was, live), ownedBy(now, object)
		}
		return e.custom.Validate(e.Typ, managing.Config(e.Manager).Subresource, was, now)
	}
	k, ok := e.kind()
	if !ok {
		return Validated{}
	}
	subresource, now, sent := managing.Config(e.Manager).Subresource, object.Content, managing.Sent(object)
	if sent.IsAbsent() {
		sent = now
	} else if held, err := k.HeldApplied(sent); err == nil && !now.Same(live.Content) {
		now = k.Prepare(subresource, live.Content, sent, held) // the outcome has more: what reading the stored object adds
	}
	return e.validation.Validate(k, e.Typ, subresource, live.Content, now, sent)
}

// ownedBy returns content with the managed fields of o.
func ownedBy(content value.Value, o managedfields.Object) value.Value {
	whole, err := managedfields.Object{Content: content, Entries: o.Entries}.Value()
	if err != nil {
		return content // fields that cannot be read do not change
	}
	return whole
}

// written returns the custom resource that a server validates before it stores object in place of live. An apply may leave nulls in it, which
// are dropped when it is read back.
func (e *Endpoint) written(live value.Value, object managedfields.Object) value.Value {
	merged := managing.Sent(object)
	if merged.IsAbsent() {
		return object.Content
	}
	if fill := managing.Config(e.Manager).Default; fill != nil {
		merged = fill(merged)
	}
	out := e.Restore(managedfields.Object{Content: live}, managedfields.Object{Content: merged})
	return out.Content.With("metadata", object.Content.Get("metadata"))
}

// Reading returns the findings of a server that reads the whole object. The version is not served, a value does not fit into the Go type of
// its field, or the validation refuses it. It takes time in proportion to object.
func (e *Endpoint) Reading(object value.Value) []Finding {
	if e.custom != nil {
		return e.readingCustom(object)
	}
	k, ok := e.kind()
	if !ok {
		return nil
	}
	config, err := k.Config("")
	if err != nil {
		return []Finding{{fieldpath.Path{fieldpath.Field("apiVersion")}, UnservedClass, secret.RawText(err.Error())}}
	}
	held, err := config.Read(object)
	if err != nil {
		var path fieldpath.Path
		if unfit := (*form.Error)(nil); errors.As(err, &unfit) {
			path = Named(e.Typ, object, unfit.Path)
		}
		return []Finding{{path, UnreadableClass, secret.RawText(err.Error())}}
	}
	if e.validation == nil {
		return nil
	}
	return e.validation.Validate(k, e.Typ, "", value.Value{}, held, object).Findings
}

// readingCustom is [Endpoint.Reading] for a custom resource that is created. A create does not write the status if the subresource exists.
func (e *Endpoint) readingCustom(object value.Value) []Finding {
	gvk := managing.Config(e.Manager).GVK
	s := e.storage.Schemas[gvk.Version]
	held, _, err := s.Decode(object)
	if err != nil {
		return []Finding{{nil, UnreadableClass, secret.RawText(err.Error())}}
	}
	if e.status[gvk.APIVersion()] {
		held = held.With(StatusName, value.Value{})
	}
	return e.Validate(managedfields.Object{}, managedfields.Object{Content: s.Default(held)}).Findings
}

// Allocates returns the values that a server adds to object, which replaces live. There are none without a [Validation], and none in writes
// through a subresource.
func (e *Endpoint) Allocates(live, object value.Value) []Allocated {
	k, ok := e.kind()
	if !ok || e.validation == nil || managing.Config(e.Manager).Subresource != "" {
		return nil
	}
	return e.validation.Allocates(k, live, object)
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
func (e *Endpoint) kind() (*builtin.Kind, bool) {
	if !e.builtIn || e.bare {
		return nil, false
	}
	return builtin.Lookup(managing.Config(e.Manager).GVK)
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

// Findings is an error: the reasons why a server refuses an object.
type Findings []Finding

// Error returns the number of reasons. The reasons may quote hidden values: see [Findings.Seen].
func (f Findings) Error() string {
	return fmt.Sprintf("the server's validation refuses it for %d reasons", len(f))
}

// Seen returns all reasons, each with its path.
func (f Findings) Seen(view secret.View) string { return strings.Join(f.Reasons(view), "; ") }

// Reasons returns the reasons, in the words of the server, each with its path.
func (f Findings) Reasons(view secret.View) []string {
	out := make([]string, len(f))
	for i, finding := range f {
		out[i] = Located(view.Path(finding.Path), finding.Reason(view))
	}
	return out
}

// Located returns text with path in front of it. An empty path, of a text about the whole object, is left out.
func Located(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}
