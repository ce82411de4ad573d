package server

import (
	"net/http"
	"strings"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/request"
)

// route leads a request to what its path names: a resource, a document about the server, or a path that another API server serves. The context of the request is a
// [request.Context].
//
// Paths with ".." or empty segments name nothing. An empty segment is permitted where the namespace is.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	c := request.From(r.Context())
	path := r.URL.Path
	if strings.Contains(path, "/..") || strings.Contains(strings.Replace(path, "/namespaces//", "/", 1), "//") {
		s.discovery.NotFound(w, r)
		return
	}
	if remote := s.aggregator.Handler(path); remote != nil {
		remote.ServeHTTP(w, r)
		return
	}
	if !c.IsResource {
		s.discovery.ServeHTTP(w, r)
		return
	}
	if c.Target.Group == aggregation.Group {
		s.aggregator.Ensure(r.Context())
	}
	resource := s.catalog().Route(c.Target.Group, c.Target.Resource)
	switch {
	case resource == nil:
		s.discovery.NotFound(w, r)
	case resource.Custom:
		s.resources.custom(w, r, c, resource)
	default:
		s.resources.builtin(w, r, c, resource)
	}
}
