package admission

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

var fields = door.Open(managedfields.Internal{})

// Object is an object that is written, or no object for the zero Object. It holds its managed fields apart from its content or within it.
// [Object.Document] joins them on the first call and keeps the outcome, so that several plugins pay once.
type Object struct {
	split  managedfields.Object
	whole  value.Value // the joined document; absent before the first call of Document
	within bool        // a plugin replaced the object: only whole is set
}

// ObjectOf returns an object whose managed fields are held apart from its content.
func ObjectOf(o managedfields.Object) Object { return Object{split: o} }

// DocumentOf returns an object whose managed fields are within the document. They may be malformed.
func DocumentOf(document value.Value) Object { return Object{whole: document, within: true} }

// IsAbsent reports whether there is no object.
func (o *Object) IsAbsent() bool { return o.split.Content.IsAbsent() && o.whole.IsAbsent() }

// Replaced reports whether a plugin replaced the object with the outcome of [DocumentOf].
func (o *Object) Replaced() bool { return o.within }

// Content returns the object. Callers must not rely on managed fields in it, nor on their absence.
func (o *Object) Content() value.Value {
	if o.within {
		return o.whole
	}
	return o.split.Content
}

// Sent returns what the content was read from, and an absent value if that is not known. It has the empty lists and maps that the content
// lacks.
func (o *Object) Sent() value.Value { return fields.Sent(o.split) }

// With returns the object with other content, which must be derived from o.Content. The managed fields stay where they are.
func (o *Object) With(content value.Value) Object {
	if o.within {
		return DocumentOf(content)
	}
	split := managedfields.Object{Content: content, Entries: o.split.Entries}
	return ObjectOf(fields.WithSent(split, fields.Sent(o.split)))
}

// Document returns the object with its managed fields, or an absent value if there is no object.
func (o *Object) Document() (value.Value, error) {
	var err error
	if o.whole.IsAbsent() && !o.split.Content.IsAbsent() {
		o.whole, err = o.split.Value()
	}
	return o.whole, err
}

// Split returns the object with its managed fields apart. It fails if they are malformed.
func (o *Object) Split() (managedfields.Object, error) {
	if !o.within {
		return o.split, nil
	}
	return managedfields.ObjectOf(o.whole)
}

// OnlyCollected reports whether a write changes nothing but what a garbage collector changes: owners and finalizers. A create changes more.
func OnlyCollected(object, old *Object) bool {
	if old.IsAbsent() {
		return false
	}
	bare := func(o *Object) value.Value {
		metadata := o.Content().Get("metadata")
		for _, name := range []string{"ownerReferences", "finalizers", "managedFields"} {
			metadata = metadata.With(name, value.Value{})
		}
		return o.Content().With("metadata", metadata)
	}
	return bare(object).Equal(bare(old))
}
