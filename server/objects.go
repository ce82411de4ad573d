package server

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/value"
)

// Create creates object as a client would, unless it exists. The error is a refusal, or that the kind is not served.
//
// It goes through the routes and verbs, without the filters: as the user system:apiserver.
func (s *Server) Create(ctx context.Context, object value.Value) error {
	v, err := s.versionOf(object)
	if err != nil {
		return err
	}
	path := loopback.CollectionPath(v, object.Get("metadata", "namespace").Str())
	err = s.client.Send(ctx, http.MethodPost, path, object)
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// PathOf returns the path of an object, which need not exist. The namespace is default if a namespaced object has none. The error is that
// the kind is not served.
func (s *Server) PathOf(object value.Value) (string, error) {
	v, err := s.versionOf(object)
	if err != nil {
		return "", err
	}
	metadata := object.Get("metadata")
	return loopback.CollectionPath(v, metadata.Get("namespace").Str()) + "/" + metadata.Get("name").Str(), nil
}

// versionOf returns the version that serves the kind of an object.
//
// The kind must be served in the very version that the object names.
func (s *Server) versionOf(object value.Value) (*catalog.Version, error) {
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	for v := range s.catalog().In(gvk.Group, gvk.Version) {
		if v.Kind == gvk.Kind {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s %s is not served", gvk.APIVersion(), gvk.Kind)
}
