package request

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/api"
)

// Route is the handler that serves a request, in the words of kube-apiserver's metrics. The zero Route is none: nothing serves the path or
// the method, or the user may not make the request.
type Route struct {
	Verb, DryRun                                 string
	Group, Version, Resource, Subresource, Scope string
	Component                                    string
	// IsLong tells that a request lasts as long as its client wants, IsWatch that it is a watch, and HasSize that the sizes of answers are
	// counted.
	IsLong, IsWatch, HasSize bool
}

// apiServer is the component of requests for resources.
const apiServer = "apiserver"

// RouteOf returns the route of a request for a resource that is served. custom tells that the resource is a custom one.
func RouteOf(r *http.Request, i *Info, custom bool) Route {
	t := i.Target
	connects := slices.Contains(connections, t.Subresource)
	out := Route{
		Verb: countedMethod(i.Method), DryRun: dryRunOf(i),
		Group: t.Group, Version: t.Version, Resource: t.Resource, Subresource: t.Subresource, Scope: i.scope(custom),
		Component: apiServer, IsLong: i.Verb == "watch" || connects && t.Subresource != "log", IsWatch: i.Verb == "watch",
		HasSize: !i.IsMutating() && !connects && !t.Watch && !(custom && i.Verb == "watch"),
	}
	switch {
	case connects:
		out.Verb = "CONNECT"
	case i.Verb == "watch", i.Method == http.MethodGet && api.Flag(i.Query, "watch"):
		out.Verb = "WATCH"
	case i.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		out.Verb = "APPLY"
	case i.Verb == "list" && out.Scope != oneObject:
		out.Verb = "LIST"
	}
	return out
}

// PathRoute returns the route of a request for a path that names no resource. path is the name of the path in metrics.
func PathRoute(r *http.Request, path string) Route {
	return Route{Verb: countedMethod(r.Method), Subresource: path, HasSize: true}
}

// countedMethod returns a method as metrics count it. HEAD counts as GET, and unknown methods together, so that clients cannot make series
// without end.
func countedMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect:
		return method
	case http.MethodHead:
		return http.MethodGet
	}
	return "other"
}

// PageRoute returns the route of a page about the server, such as statusz.
func PageRoute(r *http.Request, name string) Route {
	out := PathRoute(r, "")
	out.Resource, out.Component = name, apiServer
	return out
}

// oneObject is the scope of requests for one object.
const oneObject = "resource"

// scope returns whether the request is for one object, those of a namespace, or those of all namespaces. A list of custom resources whose
// selector demands a name is for one object.
func (i *Info) scope(custom bool) string {
	switch {
	case i.Target.Name != "", i.Verb == "create", custom && (i.Verb == "list" || i.Verb == "watch") && selectedName(i.Query) != "":
		return oneObject
	case i.Target.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// dryRunOf returns the dry run that the query of a request demands: "All", "" for none, or "invalid".
func dryRunOf(i *Info) string {
	values := i.Query["dryRun"]
	if len(values) == 0 {
		return ""
	}
	for _, v := range values {
		if v != "All" {
			return "invalid"
		}
	}
	return values[0]
}
