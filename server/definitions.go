package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/deed-project/deed/managedfields"
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

// settleDefinitions brings the status of all definitions up to date, and serves what they define.
//
// The cost grows with the number and size of all definitions; those that did not change are not compiled again.
func (s *Server) settleDefinitions(ctx context.Context) error {
	s.settle.Lock()
	defer s.settle.Unlock()
	definitions, err := s.definitions(ctx)
	if err != nil {
		return err
	}
	resources := slices.Clone(s.base)
	for i, d := range definitions {
		if err := s.acceptNames(ctx, definitions, i); err != nil {
			s.log.Error("the status of a definition cannot be written", "name", d.At("metadata", "name").Str(), "error", err)
		}
		resource, err := s.resourceOf(definitions[i])
		if err != nil {
			s.log.Error("a definition cannot be served", "name", d.At("metadata", "name").Str(), "error", err)
			continue
		}
		if resource != nil {
			resources = append(resources, resource)
		}
	}
	s.catalog.Store(catalog.New(resources...))
	s.forget(definitions)
	return nil
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
	name := d.At("metadata", "name").Str()
	was, known := s.defined[name]
	same := known && alike(was.definition, d)
	if same && terminating(was.definition) == terminating(d) {
		return was.resource, nil
	}
	served := crd.Served(d)
	if known && !(same && served) {
		was.gone()
		delete(s.defined, name)
	}
	if !served {
		return nil, nil
	}
	resource, err := crd.Compile(d, s.now)
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
func terminating(d value.Value) bool { return !d.At("metadata", "deletionTimestamp").IsAbsent() }

// alike reports whether two definitions make the same resource.
func alike(a, b value.Value) bool {
	return a.Get("spec").Equal(b.Get("spec")) && a.At("status", "acceptedNames").Equal(b.At("status", "acceptedNames")) &&
		a.At("metadata", "uid").Equal(b.At("metadata", "uid"))
}

// forget ends the watches of resources that are not defined any more.
func (s *Server) forget(definitions []value.Value) {
	left := map[string]bool{}
	for _, d := range definitions {
		left[d.At("metadata", "name").Str()] = true
	}
	for name, d := range s.defined {
		if !left[name] {
			d.gone()
			delete(s.defined, name)
		}
	}
}

// definitions returns the stored definitions, in the order in which they were created.
func (s *Server) definitions(ctx context.Context) ([]value.Value, error) {
	if s.catalog.Load() == nil {
		s.catalog.Store(catalog.New(s.base...))
	}
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: s.base[definitionsAt].Prefix})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(page.Records, func(a, b store.Record) int { return int(a.Created - b.Created) })
	var out []value.Value
	for _, record := range page.Records {
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		definition, err := crd.Load(object.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		out = append(out, definition)
	}
	return out, nil
}

// acceptNames writes the status of the i-th definition, if it changes, and puts it into definitions.
func (s *Server) acceptNames(ctx context.Context, definitions []value.Value, i int) error {
	d := definitions[i]
	var others []value.Value
	for j, other := range definitions {
		if j != i && other.At("spec", "group").Equal(d.At("spec", "group")) {
			others = append(others, other)
		}
	}
	status := crd.Accept(d, others, s.now())
	if status.Equal(d.Get("status")) {
		return nil
	}
	definitions[i] = d.With("status", status)
	path := definitionsPath + d.At("metadata", "name").Str() + "/status"
	patch := value.Object(value.Member{Name: "status", Value: status})
	return s.send(ctx, http.MethodPatch, path, patch)
}
