package server

import (
	"net/http"
	"strings"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/request"
)

// route leads a request to what its path names: a resource, a document about the server, or a path that another API server serves. The context of
// the request is a [request.Context].
//
// Paths with ".." name nothing, and neither do some with empty segments.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	c := request.From(r.Context())
	path := r.URL.Path
	if strings.Contains(path, "/..") || strings.HasPrefix(path, "//") {
		s.discovery.NotFound(w, r)
		return
	}
	if remote := s.aggregator.Handler(path); remote != nil {
		remote.ServeHTTP(w, r)
		return
	}
	var resource *catalog.Resource
	if c.IsResource {
		resource = s.catalog().Route(c.Target.Group, c.Target.Resource)
	}
	if skipsSegment(path, c.Target.Subresource) && (resource == nil || !resource.Custom) {
		s.discovery.NotFound(w, r)
		return
	}
	if !c.IsResource {
		s.discovery.ServeHTTP(w, r)
		return
	}
	if c.Target.Group == aggregation.Group {
		s.aggregator.Ensure(r.Context())
	}
	switch {
	case resource == nil, c.Target.Proxy && !resource.Custom:
		s.discovery.NotFound(w, r)
	case resource.Custom:
		s.resources.custom(w, r, c, resource)
	default:
		s.resources.builtin(w, r, c, resource)
	}
}

// skipsSegment reports whether a path that names a subresource, or none, has an empty segment. Segments at the end do not count, nor does that
// of a namespace, nor what follows a proxy or the prefix of the documents of OpenAPI v3.
func skipsSegment(path, subresource string) bool {
	if !strings.Contains(path, "//") || strings.HasPrefix(path, "/openapi/v3/") {
		return false
	}
	if subresource == "proxy" {
		path, _, _ = strings.Cut(path, "/proxy/")
	}
	path = strings.TrimRight(path, "/")
	return strings.Contains(strings.Replace(path, "/namespaces//", "/", 1), "//")
}
