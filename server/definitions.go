package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/logs"
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
// The cost grows with what changed since it was done last, and with the number of all resources if those that are served changed.
func (s *Server) serveDefinitions(ctx context.Context) error {
	s.settle.Lock()
	defer s.settle.Unlock()
	changed, err := s.definitions.catchUp(ctx, s.backend.Store, s.base[definitionsAt].Prefix, s.now)
	anew := s.catalog.Load() == nil
	for _, d := range changed {
		was := d.resource
		if err := s.define(d); err != nil {
			s.log.Error("a definition cannot be served", logs.Name("name", api.Meta(d.now, "name")), logs.Fault(err))
		}
		anew = anew || d.resource != was
	}
	if anew { // the catalog stays if it can, and what was made of it, such as OpenAPI documents
		s.catalog.Store(catalog.New(slices.Concat(s.base, s.definitions.resources())...))
	}
	return err
}

// define makes the resource of a definition that changed, and ends the watches of the one that it had, unless all that changed is that it is
// being deleted. The resource stays if nothing changed that matters to it.
func (s *Server) define(d *definition) error {
	had, served := d.resource, !d.gone && crd.Served(d.now)
	same := had != nil && served && alike(d.source, d.now)
	if same && terminating(d.source) == terminating(d.now) {
		return nil
	}
	if had != nil {
		s.backend.Forget(had)
	}
	if had != nil && !same {
		d.unwatch()
		d.resource = nil
	}
	if !served {
		return nil
	}
	var by crd.Converter
	if hook, err := s.conversions.Of(d.now); err != nil {
		return err
	} else if hook != nil {
		by = hook
	}
	resource, err := crd.Compile(d.now, s.now, by)
	if err != nil {
		return err
	}
	if same {
		resource.Gone = had.Gone // watches see how the objects go
	} else {
		resource.Gone, d.unwatch = context.WithCancel(context.Background())
	}
	d.source, d.resource = d.now, resource
	return nil
}

// terminating reports whether an object is being deleted.
func terminating(d value.Value) bool { return !d.Get("metadata", "deletionTimestamp").IsAbsent() }

// alike reports whether two definitions make the same resource.
func alike(a, b value.Value) bool {
	return a.Get("spec").Equal(b.Get("spec")) && a.Get("status", "acceptedNames").Equal(b.Get("status", "acceptedNames")) &&
		a.Get("metadata", "uid").Equal(b.Get("metadata", "uid"))
}

// writeStatuses writes the status of each definition that has another one by now. If that is being done, whoever does it begins
// again, and this one need not wait.
func (s *Server) writeStatuses(ctx context.Context) error {
	var errs []error
	s.unsettled.Store(true)
	for s.unsettled.Load() && s.writing.TryLock() {
		for s.unsettled.Swap(false) {
			errs = append(errs, s.writeEach(ctx))
		}
		s.writing.Unlock()
	}
	return errors.Join(errs...)
}

// writeEach writes the statuses once. A status is not written to a definition that was written meanwhile: it might give it a name that it does
// not want any more, and that another one has got. Whoever wrote it settles definitions again.
func (s *Server) writeEach(ctx context.Context) error {
	if err := s.serveDefinitions(ctx); err != nil {
		return err
	}
	s.settle.Lock()
	unwritten := s.definitions.unwritten()
	s.settle.Unlock()
	for _, d := range unwritten {
		name := api.Meta(d.now, "name")
		patch := api.WithMetadata(mergePatch(d.stored, d.now), "resourceVersion", value.String(fmt.Sprint(d.revision)))
		err := s.send(ctx, http.MethodPatch, definitionsPath+name+"/status", patch)
		if err := ignoringNotFound(err); err != nil && !apierrors.IsConflict(err) {
			s.log.Error("the status of a definition cannot be written", logs.Name("name", name), logs.Fault(err))
		}
	}
	return nil
}

// mergePatch returns the merge patch that makes one object of another.
func mergePatch(from, to value.Value) value.Value {
	var members []value.Member
	add := func(name string, v value.Value) { members = append(members, value.Member{Name: name, Value: v}) }
	for name := range from.Members() {
		if to.Get(name).IsAbsent() {
			add(name, value.Null())
		}
	}
	for name, want := range to.Members() {
		switch has := from.Get(name); {
		case has.Equal(want):
		case has.Kind() == value.KindObject && want.Kind() == value.KindObject:
			add(name, mergePatch(has, want))
		default:
			add(name, want)
		}
	}
	return value.Object(members...)
}
