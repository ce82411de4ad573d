package server

import (
	"context"
	stderrors "errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
)

// route leads a request to what its path names: a resource, or a document about the server.
func (s *Server) route(w http.ResponseWriter, r *http.Request, c *call) {
	path := r.URL.Path
	if strings.Contains(path, "/..") || strings.Contains(strings.Replace(path, "/namespaces//", "/", 1), "//") {
		s.noSuchPath(w, r)
		return
	}
	if !c.resource {
		s.document(w, r)
		return
	}
	resource := s.catalog.Load().Lookup(c.target.Group, c.target.Resource)
	switch {
	case resource == nil:
		s.noSuchPath(w, r)
	case resource.Custom:
		s.custom(w, r, c, resource)
	default:
		s.builtin(w, r, c, resource)
	}
}

// noSuchPath answers a path that leads nowhere: below a group of built-in kinds with a Status, else with text.
func (s *Server) noSuchPath(w http.ResponseWriter, r *http.Request) {
	root, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name, _, _ := strings.Cut(rest, "/")
	group, ok := s.catalog.Load().Group(name)
	if root == "api" || root == "apis" && name != "" && ok && !group.Custom {
		s.fail(w, r, s.errorsOf(r), api.NoResource())
		return
	}
	notFoundText(w)
}

// errorsOf returns how a client wants errors.
func (s *Server) errorsOf(r *http.Request) wire.Representation {
	return wire.NegotiateStatus(r, wire.Offer{CBOR: s.backend.CBOR})
}

// verbOf returns what a request does with what its path names, "" if there is no such thing. A path below /watch is watched, whatever the
// method.
func verbOf(method string, target api.Target, query url.Values) string {
	if target.Watch {
		return "watch"
	}
	one := target.Name != ""
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case !one && api.Flag(query, "watch"):
			return "watch"
		case one:
			return "get"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if one {
			return "delete"
		}
		return "deletecollection"
	}
	return ""
}

var (
	objectVerbs      = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	subresourceVerbs = []string{"get", "update", "patch"}
)

// custom serves a custom resource, in the manner of the handler that kube-apiserver has for all of them.
func (s *Server) custom(w http.ResponseWriter, r *http.Request, c *call, resource *catalog.Resource) {
	target, verb := c.target, c.verb
	version := resource.Version(target.Version)
	everywhere := verb == "list" || verb == "watch"
	if version == nil || target.Namespace != "" && !resource.Namespaced ||
		target.Namespace == "" && resource.Namespaced && !everywhere {
		notFoundText(w)
		return
	}
	verbs := objectVerbs
	switch sub := target.Subresource; {
	case sub == "":
	case sub == "status" && version.Status != nil, sub == "scale" && version.Scale != nil:
		verbs = subresourceVerbs
	default:
		s.fail(w, r, s.errorsOf(r), errors.NewNotFound(resource.GroupResource(), target.Name))
		return
	}
	if !slices.Contains(verbs, verb) {
		s.fail(w, r, s.errorsOf(r), errors.NewMethodNotSupported(resource.GroupResource(), verb))
		return
	}
	s.verb(w, r, c, version)
}

// builtin serves a built-in kind, in the manner of a table of routes.
func (s *Server) builtin(w http.ResponseWriter, r *http.Request, c *call, resource *catalog.Resource) {
	if resource.GroupResource() == namespaces {
		c.target.Namespace = ""
	}
	target, verb := c.target, c.verb
	version := resource.Version(target.Version)
	below := false
	if version != nil {
		connection := version.Connects(target.Subresource)
		below = connection != nil && connection.Below
	}
	switch {
	case version == nil || target.Rest != "" && !below || !version.HasSubresource(target.Subresource),
		!resource.Namespaced && target.Namespace != "", resource.Question && target.Name != "",
		resource.Namespaced && target.Namespace == "" && target.Name != "" && !target.Watch:
		s.fail(w, r, s.errorsOf(r), api.NoResource())
	case r.Method == http.MethodHead && !below || target.Watch && r.Method != http.MethodGet || !offered(version, target, verb):
		s.fail(w, r, s.errorsOf(r), api.NoMethod())
	default:
		s.verb(w, r, c, version)
	}
}

// offered reports whether the table of routes has verb for what target names.
func offered(version *catalog.Version, target api.Target, verb string) bool {
	resource := version.Resource
	switch {
	case version.Actions[target.Subresource] != nil:
		return version.Actions[target.Subresource].Has(verb) && target.Namespace != ""
	case target.Subresource != "":
		return slices.Contains(subresourceVerbs, verb)
	}
	ofCollection := slices.Contains([]string{"list", "watch", "create", "deletecollection"}, verb)
	nowhere := resource.Namespaced && target.Namespace == "" && verb != "list" && verb != "watch"
	return resource.Has(verb) && !nowhere && (ofCollection == (target.Name == "") || verb == "watch")
}

// verb carries out a request for a resource.
func (s *Server) verb(w http.ResponseWriter, r *http.Request, c *call, version *catalog.Version) {
	target, verb := c.target, c.verb
	q := &rest.Request{Backend: s.backend, HTTP: r, Query: c.query, Target: target, Version: version, Warnings: &api.Warnings{}}
	rep, err := negotiate(q, verb)
	if err == nil || version.Custom { // routes of built-in kinds have what they answer with
		q.Warnings.Add(version.Deprecation)
	}
	switch {
	case err != nil:
	case verb == "watch":
		c.follows = s.watch(w, q, c, rep)
		return
	case verb == "list" && isListed(version, rep) && r.Context().Err() == nil:
		s.listed(w, q, rep)
		return
	}
	q.Textual = rep.IsText() && rep.As == ""
	var noted *notes
	if verb != "get" && verb != "list" && s.audits(r.Context()) {
		noted = &notes{log: s.log}
		q.Annotate = noted.add
	}
	var answer *rest.Answer
	if err == nil {
		answer, err = s.inTime(q, c)
	}
	defer q.Leave()
	code := s.conclude(w, q, rep, answer, err)
	if noted != nil {
		s.audited(q, actionOn(target, verb), w.Header().Get("Audit-Id"), code, noted)
	}
}

// conclude answers a request with what came of it, and returns the status code.
func (s *Server) conclude(w http.ResponseWriter, q *rest.Request, rep wire.Representation, answer *rest.Answer, err error) int {
	switch r := q.HTTP; {
	case err != nil && overdue(r.Context(), err):
		timedOut(w)
		return http.StatusGatewayTimeout
	case err != nil:
		q.Warnings.Write(w.Header())
		s.metrics.refused(q.Version, err)
		s.fail(w, r, s.errorsOf(r), err)
		return httpCode(api.StatusOf(err).Code)
	}
	q.Warnings.Write(w.Header())
	s.answer(w, q, rep, answer)
	return answer.Code
}

func negotiate(q *rest.Request, verb string) (wire.Representation, error) {
	offer := q.Offer()
	switch {
	case q.Version.Connects(q.Target.Subresource) != nil:
		return wire.Representation{}, nil // of the other side
	case verb == "watch":
		return wire.NegotiateWatch(q.HTTP, offer)
	case q.Target.Subresource == "scale":
		offer.Protobuf = true // a Scale is a built-in kind, whatever has it
	}
	offer.Listed = verb == "list"
	return wire.Negotiate(q.HTTP, offer)
}

// inTime carries out a request. The error is the context's if the time of the whole request is over.
func (s *Server) inTime(q *rest.Request, c *call) (*rest.Answer, error) {
	ctx := q.HTTP.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := s.carryOut(q, c.verb)
	if err != nil && c.brief && ctx.Err() == context.DeadlineExceeded {
		return nil, writeTimedOut(ctx.Err())
	}
	return answer, err
}

// overdue reports whether err says that the time of a request, whose context is ctx, is over.
func overdue(ctx context.Context, err error) bool {
	return stderrors.Is(err, os.ErrDeadlineExceeded) ||
		stderrors.Is(err, context.DeadlineExceeded) && stderrors.Is(ctx.Err(), context.DeadlineExceeded)
}

func (s *Server) carryOut(q *rest.Request, verb string) (*rest.Answer, error) {
	switch {
	case q.Version.Connects(q.Target.Subresource) != nil:
		return q.Connect()
	case q.Version.Actions[q.Target.Subresource] != nil, q.Version.Kind == "Binding" && !q.Version.Custom:
		return q.Act()
	case q.Version.Question:
		return s.review(q)
	}
	switch verb {
	case "get":
		return q.Get()
	case "list":
		return q.List()
	case "create":
		return q.Create()
	case "update":
		return q.Update()
	case "patch":
		return q.Patch()
	case "delete":
		return q.Delete()
	default:
		return q.DeleteCollection()
	}
}
