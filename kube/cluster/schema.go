package cluster

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/value"
)

// Schema is the cluster's description of the fields of a kind. Either Definition or Document is nil.
type Schema struct {
	Definition []byte // the CustomResourceDefinition
	Document   []byte // the OpenAPI v3 document of the group and version
}

// Schema returns the schema of the kind of r. It reads the definition. If there is none, or if the user may not read it, Schema reads the
// OpenAPI document.
func (c *Cluster) Schema(ctx context.Context, r Resource) (Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.schemas[r.GVK]; ok {
		return known, nil
	}
	var found Schema
	var err error
	found.Definition, err = c.get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+r.Name+"."+r.GVK.Group, "")
	switch {
	case err == nil:
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		found.Definition = nil
		if found.Document, err = c.document(ctx, pathOf(r.GVK.GroupVersion())); err != nil {
			return Schema{}, fmt.Errorf("OpenAPI document of %v: %w", r.GVK.GroupVersion(), err)
		}
	default:
		return Schema{}, fmt.Errorf("definition of %v: %w", r.GVK, err)
	}
	c.schemas[r.GVK] = found
	return found, nil
}

// document returns the OpenAPI v3 document of a path. With a cache, it first fetches the hashes of all documents, once. It takes a
// document with the same hash from the cache.
func (c *Cluster) document(ctx context.Context, path string) ([]byte, error) {
	if c.cache == nil {
		return c.get(ctx, "/openapi/v3"+path, "")
	}
	if c.hashes == nil {
		text, err := c.get(ctx, "/openapi/v3", "")
		if err != nil {
			return nil, err
		}
		index, err := value.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the index of documents is no JSON")
		}
		c.hashes = map[string]string{}
		for name, entry := range index.Get("paths").Members() {
			c.hashes["/"+name] = entry.Get("serverRelativeURL").Str()
		}
	}
	at := c.hashes[path]
	_, hash, hashed := strings.Cut(at, "hash=")
	if !hashed {
		return c.get(ctx, "/openapi/v3"+path, "")
	}
	if text, ok := c.cache.load(path, hash); ok {
		return text, nil
	}
	text, err := c.get(ctx, at, "")
	if err == nil {
		c.cache.store(path, hash, text)
	}
	return text, err
}
