package server

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// What is deleted and holds others waits until these are gone: a definition for the objects of its resource, a namespace for
// everything in it. Whoever deletes the last of them finishes the deletion:
//
//	delete a definition or namespace       →  sweep: delete what it holds
//	the last object of a resource is gone  →  sweep again, if what held it is being deleted
//	sweep finds nothing left               →  the finalizer goes, and with it the definition or namespace

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
		s.finishLater("definition", r.Name(), s.finishDefinition)
	case event == rest.WasMarked && r.Version.GroupResource() == namespaces:
		s.finishLater("namespace", r.Name(), s.finishNamespace)
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
		s.finishLater("definition", name, s.finishDefinition)
	}
	for _, n := range namespaces {
		if terminating(n) {
			s.finishLater("namespace", n.Get("metadata", "name").Str(), s.finishNamespace)
		}
	}
	return nil
}

// finishing are the deletions that are being finished: each by one goroutine, however many objects go meanwhile. The zero finishing is ready.
type finishing struct {
	mu    sync.Mutex
	again map[string]bool // by what is deleted: whether to look at it once more
}

// begin reports whether nobody finishes what is called key. If somebody does, they look at it once more.
func (f *finishing) begin(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.again == nil {
		f.again = map[string]bool{}
	}
	_, busy := f.again[key]
	f.again[key] = busy
	return !busy
}

// end reports whether there is nothing more to do for what is called key.
func (f *finishing) end(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.again[key] {
		f.again[key] = false
		return false
	}
	delete(f.again, key)
	return true
}

// finishLater finishes the deletion of something in the background. What fails is tried again: a webhook may have refused a deletion.
func (s *Server) finishLater(what, name string, finish func(context.Context, string) error) {
	key := what + " " + name
	if !s.finishing.begin(key) {
		return
	}
	s.background(func(ctx context.Context) {
		for wait := retry; ; {
			err := finish(ctx, name)
			if err == nil && s.finishing.end(key) {
				return
			}
			if err == nil {
				continue
			}
			s.report(key+" is not finished", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
				wait = min(2*wait, resumeEvery)
			}
		}
	})
}

// report logs an error of work in the background, which what names.
func (s *Server) report(what string, err error) {
	if err != nil && s.ctx.Err() == nil {
		s.log.Error("work in the background failed", logs.Name("what", what), logs.Fault(err))
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

// releaseHolders finishes the definition and the namespace of an object that went, if they wait for it: of its resource nothing is left.
func (s *Server) releaseHolders(ctx context.Context, r *rest.Request) {
	if r.Version.Custom && r.Version.Terminating && s.isEmpty(ctx, r.Version.KeyPrefix("")) {
		s.finishLater("definition", r.Version.Plural+"."+r.Version.Group, s.finishDefinition)
	}
	if !r.Version.Namespaced {
		return
	}
	key := s.base[namespacesAt].Key("", r.Target.Namespace)
	record, err := s.backend.Store.Get(ctx, key, 0)
	if err == nil && mayBeDeleted(record.Text) && s.isEmpty(ctx, r.Version.KeyPrefix(r.Target.Namespace)) {
		s.finishLater("namespace", r.Target.Namespace, s.finishNamespace)
	}
}

// isEmpty reports whether there is no record whose key begins with prefix, as far as the store tells.
func (s *Server) isEmpty(ctx context.Context, prefix string) bool {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: prefix, Limit: 1})
	return err != nil || len(page.Records) == 0
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
	status := value.Object(value.Member{Name: "status", Value: mergePatch(definition.Get("status"), finished.Get("status"))})
	return ignoringNotFound(s.send(ctx, http.MethodPatch, definitionsPath+name+"/status", status))
}

// finishNamespace deletes everything in a namespace that is being deleted, and then the namespace.
func (s *Server) finishNamespace(ctx context.Context, name string) error {
	namespace, err := s.storedObject(ctx, s.base[namespacesAt].Key("", name))
	if err != nil || !terminating(namespace) {
		return err
	}
	var errs []error
	anyLeft := false
	for resource := range s.catalog.Load().All() {
		if !resource.Namespaced || len(resource.Versions) == 0 {
			continue
		}
		left, err := s.sweep(ctx, resource, name)
		anyLeft, errs = anyLeft || left, append(errs, err)
	}
	if err := stderrors.Join(errs...); err != nil || anyLeft {
		return err
	}
	return ignoringNotFound(s.finalizeNamespace(ctx, name))
}

// finalizeNamespace takes the finalizer of Kubernetes from a namespace, as often as others change the namespace meanwhile. Finalizers of
// others stay, and keep it.
func (s *Server) finalizeNamespace(ctx context.Context, name string) error {
	for {
		record, err := s.backend.Store.Get(ctx, s.base[namespacesAt].Key("", name), 0)
		if err != nil {
			return err
		}
		stored, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return err
		}
		spec := stored.Content.Get("spec")
		left := slices.Collect(spec.Get("finalizers").Items())
		left = slices.DeleteFunc(left, value.String(kubernetesFinalizer).Equal)
		body := stored.Content.With("spec", spec.With("finalizers", value.List(left...)))
		body = api.WithMetadata(body, "resourceVersion", value.String(fmt.Sprint(record.Revision)))
		err = s.send(ctx, http.MethodPut, "/api/v1/namespaces/"+name+"/finalize", body)
		if !errors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
	}
}

// kubernetesFinalizer holds a namespace until nothing is left in it.
const kubernetesFinalizer = "kubernetes"

// sweep deletes the objects of a resource in a namespace, everywhere if it is empty, and reports whether any is left because it
// waits for finalizers. The error is the first one: others are deleted all the same.
func (s *Server) sweep(ctx context.Context, resource *catalog.Resource, namespace string) (left bool, err error) {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace)})
	if err != nil || len(page.Records) == 0 {
		return false, err
	}
	for _, record := range page.Records {
		in, name := "", strings.TrimPrefix(record.Key, resource.Prefix)
		if resource.Namespaced {
			in, name, _ = strings.Cut(name, "/")
		}
		path := collectionPath(sweptVersion(resource), in) + "/" + name
		if failed := ignoringNotFound(s.send(ctx, http.MethodDelete, path, value.Value{})); failed != nil && err == nil {
			err = fmt.Errorf("DELETE %s: %w", path, failed)
		}
	}
	return !s.isEmpty(ctx, resource.KeyPrefix(namespace)), err
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
	if errors.IsNotFound(err) || stderrors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
