package server

import (
	"context"
	stderrors "errors"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// route leads a request to what its path names: a resource, or a document about the server. The context of the request is a
// [request.Context].
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	c := request.From(r.Context())
	path := r.URL.Path
	if strings.Contains(path, "/..") || strings.Contains(strings.Replace(path, "/namespaces//", "/", 1), "//") {
		s.discovery.NotFound(w, r)
		return
	}
	if !c.IsResource {
		s.discovery.ServeHTTP(w, r)
		return
	}
	resource := s.catalog().Lookup(c.Target.Group, c.Target.Resource)
	switch {
	case resource == nil:
		s.discovery.NotFound(w, r)
	case resource.Custom:
		s.custom(w, r, c, resource)
	default:
		s.builtin(w, r, c, resource)
	}
}

var (
	objectVerbs      = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	subresourceVerbs = []string{"get", "update", "patch"}
)

// custom serves a custom resource, in the manner of the handler that kube-apiserver has for all of them.
func (s *Server) custom(w http.ResponseWriter, r *http.Request, c *request.Context, resource *catalog.Resource) {
	target, verb := c.Target, c.Verb
	version := resource.Version(target.Version)
	everywhere := verb == "list" || verb == "watch"
	if version == nil || target.Namespace != "" && !resource.Namespaced ||
		target.Namespace == "" && resource.Namespaced && !everywhere {
		response.NotFound(w)
		return
	}
	verbs := objectVerbs
	switch sub := target.Subresource; {
	case sub == "":
	case sub == "status" && version.Status != nil, sub == "scale" && version.Scale != nil:
		verbs = subresourceVerbs
	default:
		s.out.Error(w, r, errors.NewNotFound(resource.GroupResource(), target.Name))
		return
	}
	if !slices.Contains(verbs, verb) {
		s.out.Error(w, r, errors.NewMethodNotSupported(resource.GroupResource(), verb))
		return
	}
	s.verb(w, r, c, version)
}

// builtin serves a built-in kind, in the manner of a table of routes.
func (s *Server) builtin(w http.ResponseWriter, r *http.Request, c *request.Context, resource *catalog.Resource) {
	if resource.GroupResource() == namespaces.Resource {
		c.Target.Namespace = ""
	}
	target, verb := c.Target, c.Verb
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
		s.out.Error(w, r, api.NoResource())
	case r.Method == http.MethodHead && !below || target.Watch && r.Method != http.MethodGet || !offered(version, target, verb):
		s.out.Error(w, r, api.NoMethod())
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
func (s *Server) verb(w http.ResponseWriter, r *http.Request, c *request.Context, version *catalog.Version) {
	verb := c.Verb
	q := s.backend.New(r, c.Query, c.Target, version)
	rep, err := negotiate(q, verb)
	if err == nil || version.Custom { // routes of built-in kinds have what they answer with
		q.Warnings.Add(version.Deprecation)
	}
	switch {
	case err != nil:
	case verb == "watch":
		s.watches.Serve(w, q, c, rep)
		return
	case verb == "list" && isListed(version, rep) && r.Context().Err() == nil:
		s.listed(w, q, rep)
		return
	}
	q.Textual = rep.IsText() && rep.As == ""
	var annotations *audit.Annotations
	if verb != "get" && verb != "list" {
		annotations = s.audit.New(r.Context())
	}
	if annotations != nil {
		q.Annotate = annotations.Add
	}
	var answer *read.Answer
	if err == nil {
		answer, err = s.inTime(q, c)
	}
	defer q.Leave()
	code := s.conclude(w, q, rep, answer, err)
	if annotations != nil {
		annotations.Write(r, c.Action(), w.Header().Get("Audit-Id"), code)
	}
}

// conclude answers a request with what came of it, and returns the status code.
func (s *Server) conclude(w http.ResponseWriter, q *write.Request, rep wire.Representation, answer *read.Answer, err error) int {
	switch r := q.HTTP; {
	case err != nil && overdue(r.Context(), err):
		response.TimedOut(w)
		return http.StatusGatewayTimeout
	case err != nil:
		q.Warnings.Write(w.Header())
		s.metrics.Refuse(q.Version, err)
		s.out.Error(w, r, err)
		return response.Code(api.StatusOf(err).Code)
	}
	q.Warnings.Write(w.Header())
	s.answer(w, q, rep, answer)
	return answer.Code
}

func negotiate(q *write.Request, verb string) (wire.Representation, error) {
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
func (s *Server) inTime(q *write.Request, c *request.Context) (*read.Answer, error) {
	ctx := q.HTTP.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := s.carryOut(q, c.Verb)
	if err != nil && c.Shortened && ctx.Err() == context.DeadlineExceeded {
		return nil, errors.NewTimeoutError("request did not complete within requested timeout - "+ctx.Err().Error(), 0)
	}
	return answer, err
}

// overdue reports whether err says that the time of a request, whose context is ctx, is over.
func overdue(ctx context.Context, err error) bool {
	return stderrors.Is(err, os.ErrDeadlineExceeded) ||
		stderrors.Is(err, context.DeadlineExceeded) && stderrors.Is(ctx.Err(), context.DeadlineExceeded)
}

func (s *Server) carryOut(q *write.Request, verb string) (*read.Answer, error) {
	switch {
	case q.Version.Connects(q.Target.Subresource) != nil:
		return q.Connect()
	case q.Version.Actions[q.Target.Subresource] != nil, q.Version.Kind == "Binding" && !q.Version.Custom:
		return q.Act()
	case q.Version.Question:
		return q.Review(func(review value.Value) (value.Value, error) {
			return s.access.Review(q.HTTP.Context(), q.Version, q.Target.Namespace, review)
		})
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
