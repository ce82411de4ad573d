package server

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// begins puts an object into the store that the server begins with, unless it is there: one with a resource version comes from another
// server, and is kept as it was there.
func (s *Server) begins(ctx context.Context, object value.Value) error {
	if api.Meta(object, "resourceVersion") != "" {
		return s.Restore(ctx, object)
	}
	return s.Create(ctx, object)
}

// Restore stores an object as another server had it: with its uid, times, status and managed fields. What its kind does not know goes,
// and defaults are filled in; nothing else is checked. An object that exists stays.
//
// It writes to the store directly, past admission and validation: they have passed on the other server. The revision is a new one.
func (s *Server) Restore(ctx context.Context, object value.Value) error {
	v, err := s.versionOf(object)
	if err != nil {
		return err
	}
	if v.Namespaced && api.Meta(object, "namespace") == "" {
		object = api.WithMetadata(object, "namespace", value.String(metav1.NamespaceDefault))
	}
	decoded, _, err := v.Form.Decode(api.WithMetadata(object, "resourceVersion", value.Value{}))
	if err != nil {
		return err
	}
	restored, err := managedfields.ObjectOf(decoded)
	if err != nil {
		return err
	}
	if restored.Content, err = catalog.Store(v.Form, restored); err != nil {
		return err
	}
	key := v.Key(api.Meta(object, "namespace"), api.Meta(object, "name"))
	if _, err = s.reader.Store.Put(ctx, key, restored.AppendJSON(nil), 0); errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err == nil && v.Prefix == s.definitions.Prefix {
		err = errors.Join(s.definitions.Sync(ctx), s.aggregator.Settle(ctx))
	}
	return err
}
