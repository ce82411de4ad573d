// Package discovery answers requests about the server itself: the groups, versions and resources that it serves, OpenAPI documents, the
// release, health checks and metrics.
package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/wire"
)

// Handler answers requests for paths that name no resource.
type Handler struct {
	Catalog func() *catalog.Catalog // what is served at the moment
	Health  Health
	Metrics http.Handler
	// HealthChecks serves the metrics of the health checks.
	HealthChecks http.Handler
	Response     response.Writer
	Now          func() time.Time
	Started      time.Time
	Flags        map[string]string // of the command, which /flagz shows
	Minor        int               // the minor release of Kubernetes that the server emulates
	Issuer       Issuer            // nil for none
	// Aggregator knows the versions that APIServices register, of which other servers serve some.
	Aggregator *aggregation.Aggregator

	openAPIs atomic.Pointer[openAPIDocuments]
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request.From(r.Context()).Route = routeOf(r)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch first := parts[0]; {
	case r.URL.Path == "/", r.URL.Path == "/index.html":
		h.paths(w, r)
	case first == "healthz" || first == "livez" || first == "readyz":
		_, name, one := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		h.Health.serve(w, r, first, name, one)
	case first == "version" && len(parts) == 1:
		h.release(w, r)
	case first == "version": // in a table of routes
		h.Response.Error(w, r, api.NoResource())
	case r.URL.Path == "/metrics":
		h.Metrics.ServeHTTP(w, r)
	case r.URL.Path == "/metrics/slis":
		h.HealthChecks.ServeHTTP(w, r)
	case r.URL.Path == "/statusz" && h.Minor >= pagesSince:
		h.status(w, r)
	case r.URL.Path == "/flagz" && h.Minor >= pagesSince:
		h.flags(w, r)
	case first == "openapi":
		h.openAPI(w, r)
	case h.Issuer != nil && h.Issuer.HasDocuments() && (first == ".well-known" || first == "openid"):
		h.issuer(w, r)
	case first == "apis" && len(parts) == 1 && len(r.URL.Path) > len("/apis/"): // only one slash may follow
		response.NotFound(w)
	case first == "api" && len(parts) <= 2, first == "apis" && len(parts) <= 3:
		h.discovery(w, r, parts)
	default:
		response.NotFound(w)
	}
}

// routeOf returns the route of the paths that kube-apiserver counts, in metrics, and no route for the others.
func routeOf(r *http.Request) request.Route {
	switch path := r.URL.Path; {
	case path == "/healthz", path == "/livez", path == "/readyz":
		return request.PathRoute(r, path)
	case path == "/openapi/v3":
		return request.PathRoute(r, "openapi/v3")
	case strings.HasPrefix(path, "/openapi/v3/"):
		return request.PathRoute(r, "openapi/v3/")
	case path == "/statusz", path == "/flagz":
		return request.PageRoute(r, path[1:])
	}
	return request.Route{}
}

// NotFound answers a path that leads nowhere: with a Status below a group of built-in kinds, and with text elsewhere.
func (h *Handler) NotFound(w http.ResponseWriter, r *http.Request) {
	root, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name, _, _ := strings.Cut(rest, "/")
	group, ok := h.Catalog().Group(name)
	if root == "api" || root == "apis" && name != "" && ok && !group.Custom {
		h.Response.Error(w, r, api.NoResource())
		return
	}
	response.NotFound(w)
}

// discovery answers with the groups, versions and resources that are served. At the roots, clients may take all of them in the aggregated
// form, but not at /apis/ with a slash at its end. Paths of built-in groups answer GET only.
func (h *Handler) discovery(w http.ResponseWriter, r *http.Request, parts []string) {
	c := h.Catalog()
	if len(parts) == 1 && parts[0] == "api" && r.Method != http.MethodGet {
		h.Response.Error(w, r, api.NoMethod())
		return
	}
	if core := parts[0] == "api"; len(parts) == 1 && (core || !strings.HasSuffix(r.URL.Path, "/")) {
		if rep, ok := wire.NegotiateAggregated(r, wire.Offer{Protobuf: true, CBOR: h.Response.CBOR, Routed: core}); ok {
			h.aggregated(w, r, core, rep)
			return
		}
	}
	switch {
	case len(parts) == 1 && parts[0] == "api":
		h.plain(w, r, coreVersions(r.Host))
	case len(parts) == 1:
		h.plain(w, r, groupList(c, h.Aggregator.Groups()))
	case parts[0] == "api":
		h.version(w, r, "", parts[1])
	case len(parts) == 2:
		group, ok := h.group(c, parts[1])
		if !ok || group.Name == "" {
			response.NotFound(w)
			return
		}
		h.plain(w, r, apiGroup(group))
	default:
		h.version(w, r, parts[1], parts[2])
	}
}

// group returns the group called name: what APIServices register of it, or else what the server has.
func (h *Handler) group(c *catalog.Catalog, name string) (catalog.Group, bool) {
	registered := h.Aggregator.Groups()
	if i := slices.IndexFunc(registered, func(g catalog.Group) bool { return g.Name == name }); i >= 0 {
		return registered[i], true
	}
	return c.Group(name)
}

// version answers with the resources of one version of a group. kube-apiserver does not list custom resources in a group of built-in kinds.
func (h *Handler) version(w http.ResponseWriter, r *http.Request, group, version string) {
	c := h.Catalog()
	list := c.APIResources(group, version)
	g, _ := c.Group(group)
	if len(list.APIResources) == 0 || !g.Custom && !c.IsBuiltIn(group, version) {
		h.NotFound(w, r)
		return
	}
	if !g.Custom && r.Method != http.MethodGet {
		h.Response.Error(w, r, api.NoMethod())
		return
	}
	list.Kind = "APIResourceList"
	if group != "" {
		list.APIVersion = "v1"
	}
	h.plain(w, r, &list)
}

// aggregated answers with all groups in one document, unless the client has that document already.
func (h *Handler) aggregated(w http.ResponseWriter, r *http.Request, core bool, rep wire.Representation) {
	groups := h.Catalog().Aggregated(core)
	if versions := h.Aggregator.Versions(); len(versions) > 0 {
		groups = merged(groups, versions, core)
	}
	list := wire.Typed{Object: &groups}
	etag := fmt.Sprintf("%q", fmt.Sprintf("%X", sha512.Sum512(list.AppendJSON(nil))))
	header := w.Header()
	header.Set("Etag", etag)
	header.Set("Vary", "Accept")
	header.Set("Cache-Control", "public")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Response.Document(w, r, http.StatusOK, rep, list)
}

// release answers with the release of Kubernetes whose behavior the server has.
func (h *Handler) release(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		h.Response.Error(w, r, api.NoMethod())
		return
	}
	rep, err := wire.NegotiateOnly(r, wire.JSON)
	if err != nil {
		h.Response.Error(w, r, err)
		return
	}
	rep.Pretty = true // for every client
	h.Response.Unrecorded(w, r, http.StatusOK, rep, wire.Typed{Object: Version(h.Minor)})
}

// plain answers with a document in the form in which the server has it. Clients may ask for Go objects of Kubernetes in protocol buffers.
func (h *Handler) plain(w http.ResponseWriter, r *http.Request, document any) {
	_, isObject := document.(runtime.Object)
	offer := wire.Offer{Protobuf: isObject, CBOR: h.Response.CBOR, Routed: h.isRouted(r.URL.Path)}
	if _, ofResources := document.(*metav1.APIResourceList); ofResources && !offer.Routed {
		offer.CBOR = false // kube-apiserver has the resources of a custom group in no CBOR
	}
	rep, err := wire.Negotiate(r, offer)
	if err != nil {
		h.Response.Error(w, r, err)
		return
	}
	h.Response.Document(w, r, http.StatusOK, rep, wire.Typed{Object: document})
}

// isRouted reports whether kube-apiserver has a document in its table of routes: the versions of the core group, and the resources of a
// version of a built-in group.
func (h *Handler) isRouted(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return true
	}
	group, ok := h.Catalog().Group(parts[min(1, len(parts)-1)])
	return len(parts) == 3 && ok && !group.Custom
}

// paths answers with the paths of the server, as indented JSON whatever the client accepts.
func (h *Handler) paths(w http.ResponseWriter, r *http.Request) {
	paths := []string{
		"/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3",
		"/openapi/v3/", "/openid/v1/jwks", "/version",
	}
	if h.Minor >= pagesSince {
		paths = append(paths, "/flagz", "/statusz")
	}
	for _, g := range slices.Concat(h.Catalog().Groups(), h.Aggregator.Groups()) {
		if g.Name == "" {
			continue
		}
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+g.Name+"/"+v)
		}
	}
	paths = append(paths, h.Health.paths()...)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	text, err := json.MarshalIndent(map[string]any{"paths": paths}, "", "  ")
	if err != nil {
		panic(err) // strings can always be encoded
	}
	w.Header().Set("Content-Type", wire.JSON)
	if _, err := w.Write(text); err != nil {
		h.Response.Log.Debug("the paths were not written", logs.Fault(err))
	}
}
