package crd

import (
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Converter converts the objects of a definition whose strategy is Webhook. It is safe for concurrent use.
type Converter interface {
	// Convert returns objects, none of which is in the given version, in that version. The error is about the
	// object behind the last one that is returned.
	Convert(objects []value.Value, apiVersion string) ([]value.Value, error)
}

// foreignForm is the form of a version whose objects a webhook converts: catalog.Batch.
type foreignForm struct {
	*form
	by Converter
}

// Load returns a stored object in the version.
func (f *foreignForm) Load(stored value.Value) (value.Value, error) {
	out, err := f.LoadAll([]managedfields.Object{{Content: stored}})
	if err != nil {
		return stored, err
	}
	return out[0], nil
}

// LoadAll returns stored objects in the version: coerced and with defaults by the schema of the version that they are stored in, and
// coerced again by that of this one once they are converted.
func (f *foreignForm) LoadAll(stored []managedfields.Object) ([]value.Value, error) {
	out := make([]value.Value, 0, len(stored))
	var others []value.Value
	var places []int
	for i, o := range stored {
		whole, err := f.decoded(o)
		if err != nil {
			return f.fill(out, others, places, err)
		}
		if whole.Get("apiVersion").Str() != f.apiVersion(f.version) {
			others, places = append(others, whole), append(places, i)
		}
		out = append(out, api.WithMetadata(whole, "managedFields", value.Value{}))
	}
	return f.fill(out, others, places, nil)
}

// decoded returns a stored object in the version that it is stored in, with its managed fields.
func (f *foreignForm) decoded(stored managedfields.Object) (value.Value, error) {
	from := stored.Content.Get("apiVersion").Str()
	s, known := f.schemas[schema.ParseGVK(from, "").Version]
	if !known {
		return value.Value{}, invalidSource(from)
	}
	content, err := s.Load(stored.Content)
	if err != nil {
		return content, err
	}
	stored.Content = s.Default(content)
	return stored.Value()
}

// fill puts what others become into their places. It returns err if nothing goes wrong before.
func (f *foreignForm) fill(out, others []value.Value, places []int, err error) ([]value.Value, error) {
	converted, failure := f.convertAll(others, f.version)
	for i, object := range converted {
		out[places[i]] = object
	}
	if failure != nil {
		return out[:places[len(converted)]], failure
	}
	return out, err
}

// Store returns an object of the version in the version that is stored.
func (f *foreignForm) Store(object value.Value) (value.Value, error) {
	return f.StoreWhole(managedfields.Object{Content: object})
}

// StoreWhole is Store for an object with its managed fields.
func (f *foreignForm) StoreWhole(object managedfields.Object) (value.Value, error) {
	if object.Content.Get("apiVersion").Str() == f.apiVersion(f.storage) {
		return object.Content, nil
	}
	whole, err := object.Value()
	if err != nil {
		return whole, err
	}
	out, err := f.convertAll([]value.Value{whole}, f.storage)
	if err != nil {
		return whole, err
	}
	return out[0], nil
}

// convertAll returns objects, which have their managed fields, in a version, without them: coerced by its schema.
func (f *foreignForm) convertAll(objects []value.Value, version string) ([]value.Value, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	out, failure := f.by.Convert(objects, f.apiVersion(version))
	for i, object := range out {
		object, _, err := f.schemas[version].Decode(api.WithMetadata(object, "managedFields", value.Value{}))
		if err != nil {
			return out[:i], err
		}
		out[i] = object
	}
	return out, failure
}

// Convert returns an object of another version in this one, as the webhook has it.
func (f *foreignForm) Convert(object value.Value) (value.Value, error) {
	return converted{f.versions, f.by}.Convert(object, f.apiVersion(f.version))
}

// converted converts for field managers: managedfields.Converter.
type converted struct {
	versions managedfields.Converter // those that there are
	by       Converter
}

// Convert returns object in the given version. An object that says nothing but what it is needs no webhook.
func (c converted) Convert(object value.Value, apiVersion string) (value.Value, error) {
	from := object.Get("apiVersion").Str()
	renamed, err := c.versions.Convert(object, apiVersion)
	if err == nil && from != apiVersion {
		if _, unknown := c.versions.Convert(object, from); unknown != nil {
			err = invalidSource(from)
		}
	}
	if err != nil || from == apiVersion || object.Len() == 2 && object.Get("kind").Kind() == value.KindString {
		return renamed, err
	}
	out, err := c.by.Convert([]value.Value{object}, apiVersion)
	if err != nil {
		return object, err
	}
	return out[0], nil
}

func invalidSource(apiVersion string) error {
	return fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion)
}

func (f *form) apiVersion(version string) string { return f.group + "/" + version }
