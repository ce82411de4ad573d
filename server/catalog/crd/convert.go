package crd

import (
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Conversion by a webhook. Only the webhook knows how versions differ, but the server decides what it sends and what it takes back:
//
//	stored text (v1)  --prune, default by v1-->  object (v1)  --webhook-->  object (v2)  --prune by v2-->  answer
//
// Objects that are in the wanted version already skip the webhook. All others of a list go there in one call.

// Converter converts objects of definitions with the strategy Webhook. It is safe for concurrent use.
type Converter interface {
	// Convert returns objects in the given version. None of them may be in that version already. If there is an error, it is about the
	// object that follows the returned ones.
	Convert(objects []value.Value, apiVersion string) ([]value.Value, error)
}

// webhookForm implements catalog.Batch for a version whose objects a webhook converts.
//
// It overrides loading and storing of form. Everything else works within one version.
type webhookForm struct {
	*form
	by Converter
}

// Load returns a stored object in this version.
func (f *webhookForm) Load(stored value.Value) (value.Value, error) {
	out, err := f.LoadAll([]managedfields.Object{{Content: stored}})
	if err != nil {
		return stored, err
	}
	return out[0], nil
}

// LoadAll returns stored objects in this version. It first prunes and defaults them by the schema of the version that they are stored in.
// After the conversion it prunes them by the schema of this version.
//
// On an error, it returns the objects before the one that failed; see catalog.Batch.
func (f *webhookForm) LoadAll(stored []managedfields.Object) ([]value.Value, error) {
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
		// Managed fields go to the webhook with the object, and are no part of the outcome. The place of an object that is converted is
		// filled below.
		out = append(out, api.WithMetadata(whole, "managedFields", value.Value{}))
	}
	return f.fill(out, others, places, nil)
}

// decoded returns a stored object in its stored version, with its managed fields.
//
// An object in a version that the definition no longer has cannot be read.
func (f *webhookForm) decoded(stored managedfields.Object) (value.Value, error) {
	from := stored.Content.Get("apiVersion").Str()
	s, known := f.storage.Schemas[schema.ParseGVK(from, "").Version]
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

// fill puts the converted others into their places in out. It returns err if no conversion fails before.
//
// err is about the object after the last one in out. So a conversion that fails before has precedence, and cuts out there.
func (f *webhookForm) fill(out, others []value.Value, places []int, err error) ([]value.Value, error) {
	converted, failure := f.convertAll(others, f.version)
	for i, object := range converted {
		out[places[i]] = object
	}
	if failure != nil {
		return out[:places[len(converted)]], failure
	}
	return out, err
}

// Store returns an object of this version in the stored version.
func (f *webhookForm) Store(object value.Value) (value.Value, error) {
	return f.StoreWhole(managedfields.Object{Content: object})
}

// StoreWhole is Store for an object with its managed fields.
//
// The webhook sees managed fields, as kube-apiserver's does, so they are joined for it.
func (f *webhookForm) StoreWhole(object managedfields.Object) (value.Value, error) {
	if object.Content.Get("apiVersion").Str() == f.apiVersion(f.storage.Version) {
		return object.Content, nil
	}
	whole, err := object.Value()
	if err != nil {
		return whole, err
	}
	out, err := f.convertAll([]value.Value{whole}, f.storage.Version)
	if err != nil {
		return whole, err
	}
	return out[0], nil
}

// convertAll converts objects, which include their managed fields, to a version and prunes them by its schema. The results lack managed
// fields.
//
// out has the objects that were converted before the first failure.
func (f *webhookForm) convertAll(objects []value.Value, version string) ([]value.Value, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	out, failure := f.by.Convert(objects, f.apiVersion(version))
	for i, object := range out {
		object, _, err := f.storage.Schemas[version].Decode(api.WithMetadata(object, "managedFields", value.Value{}))
		if err != nil {
			return out[:i], err
		}
		out[i] = object
	}
	return out, failure
}

// Convert asks the webhook for an object of another version in this version.
func (f *webhookForm) Convert(object value.Value) (value.Value, error) {
	return converted{f.versions, f.by}.Convert(object, f.apiVersion(f.version))
}

// converted implements managedfields.Converter with a webhook.
type converted struct {
	versions managedfields.Converter // converts between the versions of the definition by renaming
	by       Converter
}

// Convert returns object in the given version. An object with apiVersion and kind only needs no webhook.
//
// Renaming comes first, because it finds what is wrong with the versions. The field manager converts objects that have nothing but their
// kind, and these are the same in all versions.
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

// invalidSource returns kube-apiserver's error about an object in a version that the definition does not have.
func invalidSource(apiVersion string) error {
	return fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion)
}

// apiVersion returns the apiVersion of a version of the definition.
func (f *form) apiVersion(version string) string { return f.group + "/" + version }
