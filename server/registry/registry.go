// Package registry reads stored objects, for the parts of the server that need them as they are: admission plugins, controllers and the
// resolution of services. Below it there is a package for each resource that the server treats in its own way.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Object returns the content of the object with a key, absent if there is none.
//
// It is the object as it is stored, in the stored version and without its managed fields.
func Object(ctx context.Context, s store.Store, key string) (value.Value, error) {
	record, err := s.Get(ctx, key, 0)
	if errors.Is(err, store.ErrNotFound) {
		return value.Value{}, nil
	}
	if err != nil {
		return value.Value{}, err
	}
	object, err := managedfields.ParseObject(record.Text)
	return object.Content, err
}

// Objects returns the content of all objects of a resource, in the first version that is served. An error names the key.
//
// It reads all of them at once, for resources that have few objects.
func Objects(ctx context.Context, s store.Store, resource *catalog.Resource) ([]value.Value, error) {
	page, err := s.Range(ctx, store.Range{Prefix: resource.Prefix})
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, record := range page.Records {
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		content, err := resource.Versions[0].Form.Load(object.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		out = append(out, content)
	}
	return out, nil
}

// IsEmpty reports whether no key begins with prefix.
func IsEmpty(ctx context.Context, s store.Store, prefix string) (bool, error) {
	page, err := s.Range(ctx, store.Range{Prefix: prefix, Limit: 1})
	return err == nil && len(page.Records) == 0, err
}

// IsTerminating reports whether an object is being deleted.
func IsTerminating(object value.Value) bool {
	return !object.Get("metadata", "deletionTimestamp").IsAbsent()
}

// MayBeTerminating reports whether the text of an object has the name deletionTimestamp anywhere, as objects have that are being deleted. It
// spares parsing the others.
//
// The text may have the name in another place, so the answer is only sure if it is false.
func MayBeTerminating(text []byte) bool { return bytes.Contains(text, []byte(`"deletionTimestamp"`)) }
