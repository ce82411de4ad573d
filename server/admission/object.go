package admission

import (
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Object is an object that is written. Its managed fields stand beside it, or within it: whoever needs them within pays for
// putting them there, once. The zero Object is none.
type Object struct {
	split  managedfields.Object
	whole  value.Value // absent until somebody asks for it
	within bool        // the managed fields are only in whole, as a plugin left them
}

// ObjectOf returns an object whose managed fields stand beside it.
func ObjectOf(o managedfields.Object) Object { return Object{split: o} }

// DocumentOf returns an object with its managed fields within it, which may be malformed.
func DocumentOf(document value.Value) Object { return Object{whole: document, within: true} }

// IsAbsent reports whether there is no object.
func (o *Object) IsAbsent() bool { return o.split.Content.IsAbsent() && o.whole.IsAbsent() }

// Replaced reports whether the object is one that a plugin left, by [DocumentOf].
func (o *Object) Replaced() bool { return o.within }

// Content returns the object. Whether its managed fields are in it is not defined.
func (o *Object) Content() value.Value {
	if o.within {
		return o.whole
	}
	return o.split.Content
}

// With returns the object with other content, which comes from that of the object: its managed fields are where they were.
func (o *Object) With(content value.Value) Object {
	if o.within {
		return DocumentOf(content)
	}
	return ObjectOf(managedfields.Object{Content: content, Entries: o.split.Entries})
}

// Document returns the object with its managed fields, absent if there is none.
func (o *Object) Document() (value.Value, error) {
	var err error
	if o.whole.IsAbsent() && !o.split.Content.IsAbsent() {
		o.whole, err = o.split.Value()
	}
	return o.whole, err
}

// Split returns the object with its managed fields beside it. The error says that they are malformed.
func (o *Object) Split() (managedfields.Object, error) {
	if !o.within {
		return o.split, nil
	}
	return managedfields.ObjectOf(o.whole)
}
