package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// Where the resources stand in base that the server itself looks at.
const (
	namespacesAt  = 0
	definitionsAt = 1
)

// settleDefinitions serves what the stored definitions define, and brings their status up to date.
//
// What is served does not wait for a status to be written: webhooks are asked about that, and one of them may write a definition
// itself.
func (s *Server) settleDefinitions(ctx context.Context) error {
	if err := s.serveDefinitions(ctx); err != nil {
		return err
	}
	return s.writeStatuses(ctx)
}

// serveDefinitions serves what the stored definitions define once their names are accepted.
//
// The cost grows with the number and size of all definitions; those that did not change are not compiled again.
func (s *Server) serveDefinitions(ctx context.Context) error {
	s.settle.Lock()
	defer s.settle.Unlock()
	definitions, err := s.definitions(ctx)
	if err != nil {
		return err
	}
	resources := slices.Clone(s.base)
	for i := range definitions {
		definitions[i] = s.accepted(definitions, i)
		resource, err := s.resourceOf(definitions[i])
		if err != nil {
			s.log.Error("a definition cannot be served", "name", api.Meta(definitions[i], "name"), "error", err)
			continue
		}
		if resource != nil {
			resources = append(resources, resource)
		}
	}
	s.serve(resources)
	s.forget(definitions)
	return nil
}

// serve serves resources. If they are those that are served already, as after most writes of a status, the catalog stays, and what was made
// of it, such as OpenAPI documents.
func (s *Server) serve(resources []*catalog.Resource) {
	if !slices.Equal(resources, s.served) {
		s.served = resources
		s.catalog.Store(catalog.New(resources...))
	}
}

// writeStatuses writes the status of each definition that has another one by now. If that is being done, whoever does it begins
// again, and this one need not wait.
func (s *Server) writeStatuses(ctx context.Context) error {
	var errs []error
	s.unsettled.Store(true)
	for s.unsettled.Load() && s.writing.TryLock() {
		for s.unsettled.Swap(false) {
			errs = append(errs, s.acceptNames(ctx))
		}
		s.writing.Unlock()
	}
	return errors.Join(errs...)
}

// defined is a resource with the definition that it was made of.
type defined struct {
	definition value.Value
	resource   *catalog.Resource
	gone       context.CancelFunc
}

// resourceOf returns the resource that a definition makes, and nil if it is not served. It is the same as before if nothing
// changed that matters; watches of another one end, unless all that changed is that it is being deleted.
func (s *Server) resourceOf(d value.Value) (*catalog.Resource, error) {
	name := d.Get("metadata", "name").Str()
	was, known := s.defined[name]
	same := known && alike(was.definition, d)
	if same && terminating(was.definition) == terminating(d) {
		return was.resource, nil
	}
	served := crd.Served(d)
	if known {
		s.backend.Forget(was.resource)
	}
	if known && !(same && served) {
		was.gone()
		delete(s.defined, name)
	}
	if !served {
		return nil, nil
	}
	var by crd.Converter
	if hook, err := s.conversions.Of(d); err != nil {
		return nil, err
	} else if hook != nil {
		by = hook
	}
	resource, err := crd.Compile(d, s.now, by)
	if err != nil {
		return nil, err
	}
	gone := was.gone
	if same {
		resource.Gone = was.resource.Gone // watches see how the objects go
	} else {
		resource.Gone, gone = context.WithCancel(context.Background())
	}
	s.defined[name] = defined{d, resource, gone}
	return resource, nil
}

// terminating reports whether an object is being deleted.
func terminating(d value.Value) bool { return !d.Get("metadata", "deletionTimestamp").IsAbsent() }

// alike reports whether two definitions make the same resource.
func alike(a, b value.Value) bool {
	return a.Get("spec").Equal(b.Get("spec")) && a.Get("status", "acceptedNames").Equal(b.Get("status", "acceptedNames")) &&
		a.Get("metadata", "uid").Equal(b.Get("metadata", "uid"))
}

// forget ends the watches of resources that are not defined any more.
func (s *Server) forget(definitions []value.Value) {
	left := map[string]bool{}
	for _, d := range definitions {
		left[d.Get("metadata", "name").Str()] = true
	}
	for name, d := range s.defined {
		if !left[name] {
			d.gone()
			s.backend.Forget(d.resource)
			delete(s.defined, name)
		}
	}
}

// definitions returns the stored definitions, in the order in which they were created.
func (s *Server) definitions(ctx context.Context) ([]value.Value, error) {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: s.base[definitionsAt].Prefix})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(page.Records, func(a, b store.Record) int { return int(a.Created - b.Created) })
	var out []value.Value
	for _, record := range page.Records {
		definition, err := s.readDefinitions.read(record)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		out = append(out, definition)
	}
	s.readDefinitions.forgetOthers(page.Records)
	return out, nil
}

// readDefinitions remembers definitions as they were read: whenever one changes, all are looked at. The zero readDefinitions remember
// nothing. They are safe for concurrent use.
type readDefinitions struct {
	mu sync.Mutex
	of map[string]readDefinition // by key
}

// readDefinition is a definition with the revision that wrote it.
type readDefinition struct {
	revision store.Revision
	value.Value
}

// read returns the definition of a record.
func (d *readDefinitions) read(record store.Record) (value.Value, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.of[record.Key]; ok && known.revision == record.Revision {
		return known.Value, nil
	}
	object, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return value.Value{}, err
	}
	definition, err := crd.Load(object.Content)
	if err != nil {
		return value.Value{}, err
	}
	if d.of == nil {
		d.of = map[string]readDefinition{}
	}
	d.of[record.Key] = readDefinition{record.Revision, definition}
	return definition, nil
}

// forgetOthers forgets the definitions that are in no record.
func (d *readDefinitions) forgetOthers(records []store.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.of) <= len(records) {
		return
	}
	stored := map[string]bool{}
	for _, record := range records {
		stored[record.Key] = true
	}
	maps.DeleteFunc(d.of, func(key string, _ readDefinition) bool { return !stored[key] })
}

// accepted returns the i-th definition with the status that it has among the others.
func (s *Server) accepted(definitions []value.Value, i int) value.Value {
	d := definitions[i]
	var others []value.Value
	for j, other := range definitions {
		if j != i && other.Get("spec", "group").Equal(d.Get("spec", "group")) {
			others = append(others, other)
		}
	}
	return d.With("status", crd.Accept(d, others, s.now()))
}

// acceptNames writes the status of each definition that has another one among the others.
func (s *Server) acceptNames(ctx context.Context) error {
	definitions, err := s.definitions(ctx)
	if err != nil {
		return err
	}
	for i, d := range definitions {
		definitions[i] = s.accepted(definitions, i)
		status := definitions[i].Get("status")
		if status.Equal(d.Get("status")) {
			continue
		}
		path := definitionsPath + api.Meta(d, "name") + "/status"
		patch := value.Object(value.Member{Name: "status", Value: status})
		if err := s.send(ctx, http.MethodPatch, path, patch); err != nil {
			s.log.Error("the status of a definition cannot be written", "name", api.Meta(d, "name"), "error", err)
		}
	}
	return nil
}
