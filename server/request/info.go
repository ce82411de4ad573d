package request

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/auth"
)

// Info is what the method, the path and the query of a request say.
type Info struct {
	Client     context.Context // of the connection: ends when the client is gone
	Method     string
	Path       string
	Verb       string     // what the request does with a resource; "" for no resource, and for a method that means nothing there
	Target     api.Target // what the path names
	IsResource bool       // the path names a resource and no document
	Query      url.Values // nil for an empty query

	// Timeout is how long the whole request may take, 0 if it has no deadline.
	Timeout time.Duration
	// Shortened tells that the deadline is that of writes, which is earlier than the deadline of the whole request.
	Shortened bool
	// Route is set by the handler that serves the request.
	Route Route
	// Waited counts the nanoseconds for which the request waited for its turn and for webhooks.
	Waited atomic.Int64
	// After, if it is set, goes on with the answer once the filters and the handler have returned, as watches do. It returns the size of the
	// rest of the answer.
	After func() (size int64)
}

// NewInfo returns the Info of a request.
func NewInfo(r *http.Request) *Info {
	i := &Info{Client: r.Context(), Method: r.Method, Path: r.URL.Path}
	if r.URL.RawQuery != "" {
		i.Query = r.URL.Query()
	}
	i.Target, i.IsResource = api.ParseTarget(r.URL.Path)
	if i.IsResource {
		i.Verb = verbOf(r.Method, i.Target, i.Query)
	}
	return i
}

// IsIncomplete reports whether the path ends with the deprecated prefix watch or proxy, where it should name a resource.
func (i *Info) IsIncomplete() bool { return i.IsResource && i.Target.Incomplete }

// Action returns what the request does, as an authorizer sees it.
func (i *Info) Action() auth.Action {
	if !i.IsResource {
		return auth.Action{Verb: strings.ToLower(i.Method), Path: i.Path}
	}
	t := i.Target
	a := auth.Action{
		Verb: i.Verb, Group: t.Group, Version: t.Version, Resource: t.Resource, Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
	}
	switch i.Verb {
	case "list", "watch":
		if t.Watch {
			break // selectors do not count in the deprecated form
		}
		if a.Name == "" {
			a.Name = selectedName(i.Query)
		}
		a.FieldSelector = i.Query.Get("fieldSelector")
	case "deletecollection":
		a.FieldSelector = i.Query.Get("fieldSelector")
	}
	return a
}

// selectedName returns the name that a field selector demands. So a rule about an object with a name also allows a list or a watch that can only
// return this object. It returns "" if the selector demands no name, or if any parameter of the query is malformed.
func selectedName(query url.Values) string {
	if query.Get("fieldSelector") == "" {
		return ""
	}
	options, err := api.DecodeListOptions(query)
	if err != nil {
		return ""
	}
	name, _ := options.Fields.RequiresExactMatch("metadata.name")
	if len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}

// IsMutating reports whether the method may change something.
func (i *Info) IsMutating() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, i.Method)
}

// ChangesObjects reports whether the verb may change objects.
func (i *Info) ChangesObjects() bool {
	return i.Verb != "" && i.Verb != "get" && i.Verb != "list" && !i.IsLongRunning()
}

// connections are subresources whose requests last as long as the client wants.
var connections = []string{"attach", "exec", "log", "portforward", "proxy"}

// IsLongRunning reports whether the request has no end of its own: watches, logs, connections and profiles have none.
func (i *Info) IsLongRunning() bool {
	if !i.IsResource {
		return strings.HasPrefix(i.Path, "/debug/pprof/")
	}
	return i.Verb == "watch" || i.Verb == "proxy" || slices.Contains(connections, i.Target.Subresource)
}

// verbOf returns the verb of a request for a resource, "" if the method means nothing there. A path below /watch or /proxy has that
// verb, whatever the method is.
func verbOf(method string, target api.Target, query url.Values) string {
	switch {
	case target.Watch:
		return "watch"
	case target.Proxy:
		return "proxy"
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
