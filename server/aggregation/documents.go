package aggregation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/wire"
)

// Users of requests that the server sends to remotes by itself.
var (
	masters = auth.User{Name: "system:kube-aggregator", Groups: []string{"system:masters"}}
	plain   = auth.User{Name: "system:kube-aggregator"}
	openAPI = auth.User{Name: "system:aggregator"}
)

const (
	// refreshInterval is how long the documents of a remote are used.
	refreshInterval = time.Minute
	// documentTimeout is how long an OpenAPI document may take, and maxDocument how many bytes it may have.
	documentTimeout = 30 * time.Second
	maxDocument     = 64 << 20
)

// documents are what a remote says of the resources of a version. The zero documents say nothing. They are safe for concurrent use.
type documents struct {
	of kschema.GroupVersion

	mu       sync.Mutex
	read     time.Time                         // when the resources were read; the zero time if that failed
	resource *apidiscovery.APIVersionDiscovery // nil if they are unknown
	spec     specs
}

// Version is a version that a remote API server serves, as aggregated discovery shows it.
type Version struct {
	Group     string
	Priority  int32 // of the group
	Within    int32 // priority of the version in the group
	Discovery apidiscovery.APIVersionDiscovery
}

// Versions returns the versions of remote API servers, by name. A version whose resources are unknown is stale.
func (a *Aggregator) Versions() []Version {
	var out []Version
	for _, s := range a.byName() {
		v := Version{s.gv.Group, int32(s.groupPriority), int32(s.versionPriority), apidiscovery.APIVersionDiscovery{
			Version: s.gv.Version, Freshness: apidiscovery.DiscoveryFreshnessStale,
		}}
		s.remote.documents.mu.Lock()
		if of := s.remote.resource; of != nil {
			v.Discovery = *of
		}
		s.remote.documents.mu.Unlock()
		out = append(out, v)
	}
	return out
}

// Resource is a resource of a remote API server, in one version.
type Resource struct {
	kschema.GroupResource
	Version, Kind string
	Namespaced    bool
}

// Path returns the path of the resource's objects: those in a namespace, or all if namespace is empty.
func (r Resource) Path(namespace string) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.GroupResource.Resource
}

// Resources returns the resources of remotes that have all of some verbs. unknown are the group versions whose resources are unknown, because
// their server is not available.
func (a *Aggregator) Resources(verbs ...string) (all []Resource, unknown []string) {
	for _, v := range a.Versions() {
		if v.Discovery.Freshness != apidiscovery.DiscoveryFreshnessCurrent {
			unknown = append(unknown, v.Group+"/"+v.Discovery.Version)
		}
		for _, r := range v.Discovery.Resources {
			lacks := func(verb string) bool { return !slices.Contains(r.Verbs, verb) }
			if r.ResponseKind == nil || slices.ContainsFunc(verbs, lacks) {
				continue
			}
			all = append(all, Resource{
				kschema.GroupResource{Group: v.Group, Resource: r.Resource}, v.Discovery.Version, r.ResponseKind.Kind,
				r.Scope == apidiscovery.ScopeNamespace,
			})
		}
	}
	return all, unknown
}

// Available reports for each APIService, by name, whether it is available.
func (a *Aggregator) Available() map[string]bool {
	a.Ensure(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(map[string]bool, len(a.table.of))
	for _, s := range a.table.of {
		out[s.name] = s.isLocal || s.isAvailable()
	}
	return out
}

// Changes counts how often APIServices or the documents of remotes changed.
func (a *Aggregator) Changes() int64 { return a.changes.Load() }

// byName returns the remote APIServices by name.
func (a *Aggregator) byName() []*service {
	remotes := a.remotes.Load()
	if remotes == nil {
		return nil
	}
	out := make([]*service, 0, len(*remotes))
	for _, s := range *remotes {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *service) int { return cmp.Compare(a.name, b.name) })
	return out
}

// forget marks the resources as unknown, because the remote cannot be reached.
func (d *documents) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resource, d.read = nil, time.Time{}
}

// expire has the documents read again by the next refresh.
func (d *documents) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = time.Time{}
}

// isNew reports whether the documents were read a short time ago.
func (d *documents) isNew(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Sub(d.read) < refreshInterval
}

// refresh reads the documents of an available remote, unless they are new. What cannot be read stays as it was, apart from the resources.
// The error is about the resources.
func (r *remote) refresh(ctx context.Context, now time.Time) error {
	if r.isNew(now) {
		return nil
	}
	err := r.refreshResources(ctx, now)
	spec := r.readSpecs(ctx)
	r.documents.mu.Lock()
	defer r.documents.mu.Unlock()
	r.spec = spec
	return err
}

// refreshResources reads the resources of a remote, unless they are new. It forgets resources that it cannot read.
func (r *remote) refreshResources(ctx context.Context, now time.Time) error {
	if r.isNew(now) {
		return nil
	}
	resource, err := r.discover(ctx)
	r.documents.mu.Lock()
	defer r.documents.mu.Unlock()
	r.resource, r.read = resource, now
	if err != nil {
		r.read = time.Time{}
		return fmt.Errorf("discovery of %s: %w", r.of, err)
	}
	return nil
}

// discover asks for the resources of the version: for all versions in one document, or for this one from a server that has no such document.
func (r *remote) discover(ctx context.Context) (*apidiscovery.APIVersionDiscovery, error) {
	out := &apidiscovery.APIVersionDiscovery{Version: r.of.Version}
	code, header, body, err := r.get(ctx, checkTimeout, "/apis", masters, wire.JSON+wire.AggregatedParams)
	switch {
	case err != nil:
		return nil, err
	case code == http.StatusServiceUnavailable:
		return nil, errUnavailable
	case code != http.StatusOK || !isAggregated(header.Get("Content-Type")):
		if out.Resources, err = r.discoverPlain(ctx); err != nil {
			return nil, err
		}
	default:
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, err
		}
		for _, g := range list.Items {
			for _, v := range g.Versions {
				if g.Name == r.of.Group && v.Version == r.of.Version {
					out = &v
				}
			}
		}
	}
	complete(out.Resources)
	out.Freshness = apidiscovery.DiscoveryFreshnessCurrent
	return out, nil
}

// isAggregated reports whether a media type is that of aggregated discovery.
func isAggregated(media string) bool {
	_, params, err := mime.ParseMediaType(media)
	return err == nil && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && strings.EqualFold(params["as"], "APIGroupDiscoveryList")
}

// complete gives kinds to resources that name none, as old clients cannot do without.
func complete(resources []apidiscovery.APIResourceDiscovery) {
	for i := range resources {
		r := &resources[i]
		if r.ResponseKind == nil {
			r.ResponseKind = &metav1.GroupVersionKind{}
		}
		for k := range r.Subresources {
			if r.Subresources[k].ResponseKind == nil {
				r.Subresources[k].ResponseKind = &metav1.GroupVersionKind{}
			}
		}
	}
}

// discoverPlain asks for the list of resources of the version.
func (r *remote) discoverPlain(ctx context.Context) ([]apidiscovery.APIResourceDiscovery, error) {
	at := "/apis/" + r.of.Group + "/" + r.of.Version
	if r.of.Group == "" {
		at = "/api/" + r.of.Version
	}
	code, _, body, err := r.get(ctx, checkTimeout, at, plain, "application/json")
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("%s is answered with %d", at, code)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return aggregated(list.APIResources)
}

// aggregated returns the resources of a plain list as aggregated discovery has them. A subresource without a resource makes one.
func aggregated(list []metav1.APIResource) ([]apidiscovery.APIResourceDiscovery, error) {
	var out []apidiscovery.APIResourceDiscovery
	at := map[string]int{}
	scope := func(r metav1.APIResource) apidiscovery.ResourceScope {
		if r.Namespaced {
			return apidiscovery.ScopeNamespace
		}
		return apidiscovery.ScopeCluster
	}
	kind := func(r metav1.APIResource) *metav1.GroupVersionKind {
		return &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	}
	for _, r := range list {
		if strings.Contains(r.Name, "/") {
			continue
		}
		at[r.Name] = len(out)
		out = append(out, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, Scope: scope(r), ResponseKind: kind(r), Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
			SingularResource: r.SingularName,
		})
	}
	for _, r := range list {
		name, sub, is := strings.Cut(r.Name, "/")
		if !is {
			continue
		}
		i, known := at[name]
		if !known {
			i = len(out)
			at[name] = i
			out = append(out, apidiscovery.APIResourceDiscovery{Resource: name, Scope: scope(r)})
		}
		if out[i].Scope != scope(r) {
			return nil, fmt.Errorf("%s and %s have different scopes", name, r.Name)
		}
		of := apidiscovery.APISubresourceDiscovery{Subresource: sub, Verbs: r.Verbs}
		if r.Kind != "" {
			of.ResponseKind = kind(r)
		}
		out[i].Subresources = append(out[i].Subresources, of)
	}
	return out, nil
}

// get asks for a document of the remote. timeout is how long that may take.
func (r *remote) get(ctx context.Context, timeout time.Duration, path string, as auth.User, accept string) (code int, header http.Header, body []byte, err error) {
	at, err := r.address()
	if err != nil {
		return 0, nil, nil, err
	}
	at.Path = path
	return r.send(ctx, timeout, at, as, http.Header{"Accept": {accept}})
}

// send sends a GET to the remote, and reads the answer. It follows no redirects. The client has the timeout, whose error is its own.
func (r *remote) send(ctx context.Context, timeout time.Duration, at *url.URL, as auth.User, header http.Header) (int, http.Header, []byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return 0, nil, nil, err
	}
	for name, values := range header {
		q.Header[name] = values
	}
	client := http.Client{
		Transport: r.as(as), Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	w, err := client.Do(q)
	if err != nil {
		return 0, nil, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(w.Body, maxDocument+1))
	if err = errors.Join(err, w.Body.Close()); err == nil && len(body) > maxDocument {
		err = fmt.Errorf("the answer has more than %d bytes", maxDocument)
	}
	return w.StatusCode, w.Header, body, err
}
