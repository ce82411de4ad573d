package server

import (
	"context"
	stderrors "errors"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// What is deleted and holds others waits until these are gone: a definition for the objects of its resource, a namespace for
// everything in it. Whoever deletes the last of them finishes the deletion:
//
//	delete a definition or namespace  →  sweep: delete what it holds
//	an object goes                    →  sweep again, if what holds it is being deleted
//	sweep finds nothing left          →  the finalizer goes, and with it the definition or namespace

// stored reacts to a write: definitions change what is served, and what went may be what something waits for.
func (s *Server) stored(ctx context.Context, r *rest.Request, event rest.Written) {
	definition := r.Version.Prefix == s.base[definitionsAt].Prefix
	if definition && r.Target.Subresource != "status" {
		s.report("definitions are not settled", s.settleDefinitions(context.WithoutCancel(ctx)))
	}
	if configuresHooks(r) {
		s.report("webhooks are not settled", s.settleHooks(context.WithoutCancel(ctx)))
	}
	switch {
	case event == rest.WasMarked && definition:
		s.finishLater("a definition", r.Name(), s.finishDefinition)
	case event == rest.WasMarked && r.Version.GroupResource() == namespaces:
		s.finishLater("a namespace", r.Name(), s.finishNamespace)
	case event == rest.WasRemoved:
		s.background(func(ctx context.Context) { s.releaseHolders(ctx, r) })
	}
}

// resume goes on with the deletions of definitions and namespaces that began before: by a server that ended, or by another one.
func (s *Server) resume(ctx context.Context) error {
	if err := s.serveDefinitions(ctx); err != nil {
		return err
	}
	s.settle.Lock()
	definitions := slices.Collect(s.definitions.terminating())
	s.settle.Unlock()
	namespaces, err := s.allOf(ctx, s.base[namespacesAt])
	if err != nil {
		return err
	}
	for _, name := range definitions {
		s.finishLater("a definition", name, s.finishDefinition)
	}
	for _, n := range namespaces {
		if terminating(n) {
			s.finishLater("a namespace", n.Get("metadata", "name").Str(), s.finishNamespace)
		}
	}
	return nil
}

// finishLater finishes the deletion of something in the background.
func (s *Server) finishLater(what, name string, finish func(context.Context, string) error) {
	s.background(func(ctx context.Context) { s.report(what+" is not finished", finish(ctx, name)) })
}

// report logs an error that nobody waits for.
func (s *Server) report(what string, err error) {
	if err != nil && s.ctx.Err() == nil {
		s.log.Error(what, "error", err)
	}
}

// background runs f until it ends or the server does, and Close waits for it.
func (s *Server) background(f func(context.Context)) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.ctx.Err() == nil {
		s.wait.Go(func() { f(s.ctx) })
	}
}

// releaseHolders finishes the definition and the namespace of an object that went, if they wait for it.
func (s *Server) releaseHolders(ctx context.Context, r *rest.Request) {
	if r.Version.Custom && r.Version.Terminating {
		s.report("a definition is not finished", s.finishDefinition(ctx, r.Version.Plural+"."+r.Version.Group))
	}
	if !r.Version.Namespaced {
		return
	}
	key := s.base[namespacesAt].Key("", r.Target.Namespace)
	if record, err := s.backend.Store.Get(ctx, key, 0); err != nil || !mayBeDeleted(record.Text) {
		return
	}
	namespace, err := s.storedObject(ctx, key)
	if err == nil && !namespace.Get("metadata", "deletionTimestamp").IsAbsent() {
		s.report("a namespace is not finished", s.finishNamespace(ctx, r.Target.Namespace))
	}
}

// storedObject returns the content of the object with a key, absent if there is none.
func (s *Server) storedObject(ctx context.Context, key string) (value.Value, error) {
	record, err := s.backend.Store.Get(ctx, key, 0)
	if err != nil {
		if stderrors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return value.Value{}, err
	}
	object, err := managedfields.ParseObject(record.Text)
	return object.Content, err
}

// finishDefinition deletes the objects of a definition's resource, and then the definition.
func (s *Server) finishDefinition(ctx context.Context, name string) error {
	key := s.base[definitionsAt].Key("", name)
	definition, err := s.storedObject(ctx, key)
	if err != nil || definition.IsAbsent() {
		return err
	}
	resource := s.catalog.Load().Lookup(definition.Get("spec", "group").Str(), definition.Get("spec", "names", "plural").Str())
	if resource != nil && len(resource.Versions) > 0 {
		left, err := s.sweep(ctx, resource, "")
		if err != nil || left {
			return err
		}
	}
	finished, held := crd.Finished(definition, s.now())
	if !held {
		return nil
	}
	patch := onlyMetadata(finished, "finalizers")
	err = ignoringNotFound(s.send(ctx, http.MethodPatch, definitionsPath+name, patch))
	if err != nil || finished.Get("metadata", "finalizers").Len() == 0 {
		return err
	}
	status := value.Object(value.Member{Name: "status", Value: finished.Get("status")})
	return ignoringNotFound(s.send(ctx, http.MethodPatch, definitionsPath+name+"/status", status))
}

// finishNamespace deletes everything in a namespace, and then the namespace.
func (s *Server) finishNamespace(ctx context.Context, name string) error {
	for resource := range s.catalog.Load().All() {
		if !resource.Namespaced || len(resource.Versions) == 0 {
			continue
		}
		if left, err := s.sweep(ctx, resource, name); err != nil || left {
			return err
		}
	}
	path := "/api/v1/namespaces/" + name + "/finalize"
	body := newNamespace(name).With("spec", value.Object(value.Member{Name: "finalizers", Value: value.List()}))
	return ignoringNotFound(s.send(ctx, http.MethodPut, path, body))
}

// sweep deletes the objects of a resource in a namespace, everywhere if it is empty, and reports whether any is left because it
// waits for finalizers.
func (s *Server) sweep(ctx context.Context, resource *catalog.Resource, namespace string) (left bool, err error) {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace)})
	if err != nil {
		return false, err
	}
	for _, record := range page.Records {
		in, name := "", strings.TrimPrefix(record.Key, resource.Prefix)
		if resource.Namespaced {
			in, name, _ = strings.Cut(name, "/")
		}
		path := collectionPath(sweptVersion(resource), in) + "/" + name
		if err := ignoringNotFound(s.send(ctx, http.MethodDelete, path, value.Value{})); err != nil {
			return true, err
		}
	}
	if len(page.Records) == 0 {
		return false, nil
	}
	page, err = s.backend.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace), Limit: 1})
	return len(page.Records) > 0, err
}

// sweptVersion returns the version in which the objects of a resource are deleted: the one that they are stored in, so that none has to
// be converted, if it is served.
func sweptVersion(resource *catalog.Resource) *catalog.Version {
	if stored := resource.Version(resource.Stored); resource.Custom && stored != nil {
		return stored
	}
	return resource.Versions[0]
}

// onlyMetadata returns a merge patch that sets a member of the metadata to what object has.
func onlyMetadata(object value.Value, name string) value.Value {
	metadata := value.Object(value.Member{Name: name, Value: object.Get("metadata", name)})
	return value.Object(value.Member{Name: "metadata", Value: metadata})
}

func ignoringNotFound(err error) error {
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}
