package server

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/wire"
)

// document answers a request for what is no resource: discovery, OpenAPI, the version, and how the server does.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch first := parts[0]; {
	case first == "":
		s.paths(w, r)
	case first == "healthz" || first == "livez" || first == "readyz":
		s.health(w, r, parts)
	case first == "version" && len(parts) == 1:
		s.release(w, r)
	case first == "metrics" && len(parts) == 1:
		s.metrics.handler.ServeHTTP(w, r)
	case first == "openapi":
		s.openAPI(w, r, parts[1:])
	case first == "api" && len(parts) <= 2, first == "apis" && len(parts) <= 3:
		s.discovery(w, r, parts)
	default:
		notFoundText(w)
	}
}

// discovery answers what the server serves: on the roots all of it, if the client takes the aggregated form. What the table of routes of
// built-in kinds leads to is there for GET only.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request, parts []string) {
	c := s.catalog.Load()
	switch {
	case len(parts) == 1 && parts[0] == "api" && r.Method != http.MethodGet:
		s.fail(w, r, s.errorsOf(r), api.NoMethod())
	case len(parts) == 1 && wire.TakesAggregated(r):
		s.aggregated(w, r, parts[0] == "api")
	case len(parts) == 1 && wire.TakesOnlyAggregated(r):
		s.fail(w, r, wire.Plain, wire.NotAggregated())
	case len(parts) == 1 && parts[0] == "api":
		s.plain(w, r, coreVersions(r.Host))
	case len(parts) == 1:
		s.plain(w, r, groupList(c))
	case parts[0] == "api":
		s.version(w, r, "", parts[1])
	case len(parts) == 2:
		group, ok := c.Group(parts[1])
		if !ok || group.Name == "" {
			notFoundText(w)
			return
		}
		s.plain(w, r, apiGroup(group))
	default:
		s.version(w, r, parts[1], parts[2])
	}
}

// version answers what the server serves in one version of a group.
func (s *Server) version(w http.ResponseWriter, r *http.Request, group, version string) {
	c := s.catalog.Load()
	list := c.APIResources(group, version)
	if len(list.APIResources) == 0 {
		s.noSuchPath(w, r)
		return
	}
	if g, ok := c.Group(group); ok && !g.Custom && r.Method != http.MethodGet {
		s.fail(w, r, s.errorsOf(r), api.NoMethod())
		return
	}
	list.Kind = "APIResourceList"
	if group != "" {
		list.APIVersion = "v1"
	}
	s.plain(w, r, &list)
}

// aggregated answers everything that the server serves in one document, unless the client has it already.
func (s *Server) aggregated(w http.ResponseWriter, r *http.Request, core bool) {
	list := s.catalog.Load().Aggregated(core)
	text := wire.Typed{Object: &list}.AppendJSON(nil)
	etag := fmt.Sprintf("%q", fmt.Sprintf("%X", sha512.Sum512(text)))
	h := w.Header()
	h.Set("Etag", etag)
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.write(w, r, http.StatusOK, wire.Representation{Media: wire.JSON, Params: wire.AggregatedParams}, wire.Text(text))
}

// release answers which release of Kubernetes the server answers as.
func (s *Server) release(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.fail(w, r, s.errorsOf(r), api.NoMethod())
		return
	}
	rep, err := wire.NegotiateJSON(r)
	if err != nil {
		s.fail(w, r, s.errorsOf(r), err)
		return
	}
	s.write(w, r, http.StatusOK, rep, wire.Typed{Object: release})
}

// plain answers with a document that every client takes as it is: a Go object of Kubernetes, which can be had in protocol buffers
// too, or another one.
func (s *Server) plain(w http.ResponseWriter, r *http.Request, document any) {
	_, isObject := document.(runtime.Object)
	rep, err := wire.Negotiate(r, wire.Offer{Protobuf: isObject, CBOR: s.backend.CBOR, Routed: true})
	if err != nil {
		s.fail(w, r, s.errorsOf(r), err)
		return
	}
	s.write(w, r, http.StatusOK, rep, wire.Typed{Object: document})
}

// paths lists the paths of the server, for people: in lines, whatever the client takes.
func (s *Server) paths(w http.ResponseWriter, r *http.Request) {
	paths := []string{"/api", "/api/v1", "/apis"}
	for _, g := range s.catalog.Load().Groups() {
		if g.Name == "" {
			continue
		}
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+g.Name+"/"+v)
		}
	}
	paths = append(paths, "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
	slices.Sort(paths)
	text, err := json.MarshalIndent(map[string]any{"paths": paths}, "", "  ")
	if err != nil {
		panic(err) // texts can always be said
	}
	w.Header().Set("Content-Type", wire.JSON)
	if _, err := w.Write(text); err != nil {
		s.log.Debug("the paths were not written", logs.Fault(err))
	}
}
