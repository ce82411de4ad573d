package types

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// Finding is why a server refuses an object whose fields are all declared. It is never its merging
// that does.
type Finding struct {
	Path   fieldpath.Path // as managed fields name it; empty for the object as a whole
	Class  string
	reason secret.Raw // in the words of the server, where they are known
}

// The classes of findings.
const (
	RequiredClass    = "required"    // a text that is wanted is empty
	UnsupportedClass = "unsupported" // a text is none of those that the field may have
	ImmutableClass   = "immutable"   // a field changes that may not
	UnreadableClass  = "unreadable"  // a value does not fit into the Go type of its field
	UnservedClass    = "unserved"    // no server has the version
)

// Findings returns what the validation of a server refuses of object, which is to be stored instead
// of live, as far as the kind is built in and its schemas, or the table of what may not change,
// declare it; an absent live is an object that does not exist yet. It takes time in proportion to
// both. An object that stays as it is was not refused before.
func (e *Endpoint) Findings(live, object value.Value) []Finding {
	k, ok := e.kind()
	if !ok || live.Same(object) {
		return nil
	}
	if held, err := k.Held(live); err == nil && !live.IsAbsent() {
		live = held // files may lack what a server has filled in
	}
	if held, err := k.Held(object); err == nil {
		object = held // likewise, where an apply finds nothing to change
	}
	var out []Finding
	for _, f := range k.Findings(live, object) {
		out = append(out, Finding{Named(e.Typ, object, f.Path), classOf(f), secret.RawText(f.Reason)})
	}
	return out
}

// Reading returns what a server finds when it reads object, a whole one: that its version is not
// served, that a value does not fit into the Go type of its field, or what its validation refuses.
// It takes time in proportion to object.
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

// Allocates returns what a server adds to object, which is to be stored instead of live: see
// [builtin.Kind.Allocates].
func (e *Endpoint) Allocates(live, object value.Value) []builtin.Allocated {
	k, ok := e.kind()
	if !ok {
		return nil
	}
	return k.Allocates(live, object)
}

// KeepsNothingAt reports whether a server may have nothing at path in object, one of the endpoint's kind, although a manager applied
// something there: it left that out because it was empty, or keeps it elsewhere.
func (e *Endpoint) KeepsNothingAt(path fieldpath.Path, object value.Value) bool {
	k, ok := e.kind()
	if !ok {
		return false
	}
	folded := k.Folded(path)
	return k.LeavesOut(path) || !slices.Equal(folded, path) && !manifest.Lookup(object, folded).IsAbsent()
}

// Folded returns where a server keeps what is written to path: see [builtin.Kind.Folded].
func (e *Endpoint) Folded(path fieldpath.Path) fieldpath.Path {
	k, ok := e.kind()
	if !ok {
		return path
	}
	return k.Folded(path)
}

// kind returns the built-in kind that the endpoint is of, and whether it is of one.
func (e *Endpoint) kind() (*builtin.Kind, bool) {
	if !e.builtIn || e.bare {
		return nil, false
	}
	return builtin.Lookup(managing.Config(e.Manager).GVK)
}

// Named returns path, which leads to something in v, a value of type t, with items of lists named
// as managed fields do.
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

// identity returns how managed fields name item of list, and else if they do not.
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

// classOf returns the class of what a kind's schemas, or the table of what may not change, declare.
func classOf(f form.Finding) string {
	switch head, _, _ := strings.Cut(f.Reason, ":"); head {
	case "Required value":
		return RequiredClass
	case "Unsupported value":
		return UnsupportedClass
	}
	return ImmutableClass
}

// Reason returns why, as view shows it, in the words of the server where they are known.
func (f Finding) Reason(view secret.View) string { return view.Reason(f.Path, f.reason) }

// Text returns the reason, and that it is not merging that refuses.
func (f Finding) Text(view secret.View) string {
	switch f.Class {
	case UnreadableClass, UnservedClass:
		return f.Reason(view)
	}
	return fmt.Sprintf("%s (the server's validation refuses this, not its merging)", f.Reason(view))
}
