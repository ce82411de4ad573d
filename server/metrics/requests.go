package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/request"
)

// Counting requests. As in kube-apiserver, a request is counted if a handler serves it: see [request.Route]. Requests that a filter refuses
// are not, except for those that exceed a limit. Routes are of what is served, and not of what clients write into paths, so there is an end
// to the series.
//
// Counting a request takes two lookups in caches, by its route and by its code. The library would make a hash of all labels each time.

// requests are the metrics of requests.
type requests struct {
	total      *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	served     *prometheus.HistogramVec // durations without the time that requests waited
	sizes      *prometheus.HistogramVec
	long       *prometheus.GaugeVec
	deprecated *prometheus.GaugeVec
	events     *prometheus.CounterVec
	eventSizes *prometheus.HistogramVec

	series   cache[request.Route, *series]
	counters cache[kschema.GroupVersionResource, func(size int)]
}

// routeLabels are the labels of a [request.Route]. Metrics of sizes and others are without the dry run.
var (
	routeLabels    = []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	resourceLabels = []string{"group", "version", "resource"}
	withoutDryRun  = slices.DeleteFunc(slices.Clone(routeLabels), func(label string) bool { return label == "dry_run" })
)

// servedBuckets are the bounds of durations, in seconds, and durationBuckets have two lower ones.
var (
	servedBuckets   = []float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}
	durationBuckets = append([]float64{0.005, 0.025}, servedBuckets...)
)

func newRequests() requests {
	return requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests that a handler served, or that exceeded a limit.",
		}, append(slices.Clone(routeLabels), "code")),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_request_duration_seconds", Help: "How long requests took.", Buckets: durationBuckets,
		}, routeLabels),
		served: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_request_sli_duration_seconds",
			Help:    "How long requests took that are no dry runs and no watches, without the time for which they waited for their turn and for webhooks.",
			Buckets: servedBuckets,
		}, withoutDryRun),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_response_sizes", Help: "Bytes of answers to reads.", Buckets: prometheus.ExponentialBuckets(1000, 10, 7),
		}, withoutDryRun),
		long: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Watches and connections under way.",
		}, withoutDryRun),
		deprecated: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_requested_deprecated_apis", Help: "Deprecated versions that were requested.",
		}, []string{"group", "version", "resource", "subresource", "removed_release"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total", Help: "Events that watches sent.",
		}, resourceLabels),
		eventSizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_watch_events_sizes", Help: "Bytes of events that watches sent, before compression.",
			Buckets: prometheus.ExponentialBuckets(1024, 2, 8),
		}, resourceLabels),
	}
}

// all returns the metrics.
func (r *requests) all() []prometheus.Collector {
	return []prometheus.Collector{r.total, r.durations, r.served, r.sizes, r.long, r.deprecated, r.events, r.eventSizes}
}

// series are the metrics of the requests of one route, found once.
type series struct {
	total    *prometheus.CounterVec // by code
	codes    cache[int, prometheus.Counter]
	duration prometheus.Observer
	served   prometheus.Observer // nil for dry runs and watches
	size     prometheus.Observer // nil if sizes are not counted
	long     prometheus.Gauge    // nil for requests that end by themselves
}

// labelsOf returns the labels of a route, without the dry run.
func labelsOf(route request.Route) prometheus.Labels {
	return prometheus.Labels{
		"verb": route.Verb, "group": route.Group, "version": route.Version, "resource": route.Resource, "subresource": route.Subresource,
		"scope": route.Scope, "component": route.Component,
	}
}

// of returns the metrics of a route.
//
// A series is made once for each route, and stays.
func (r *requests) of(route request.Route) *series {
	return r.series.get(route, func() *series {
		labels, s := labelsOf(route), &series{}
		if route.IsLong {
			s.long = r.long.With(labels)
		}
		if route.HasSize {
			s.size = r.sizes.With(labels)
		}
		if route.DryRun == "" && !route.IsWatch {
			s.served = r.served.With(labels)
		}
		labels["dry_run"] = route.DryRun
		s.total, s.duration = r.total.MustCurryWith(labels), r.durations.With(labels)
		return s
	})
}

// Begin sets the route of a request, which a handler is about to serve.
func (m *Metrics) Begin(c *request.Info, route request.Route) {
	c.Route = route
	if route.IsLong {
		m.requests.of(route).long.Inc()
	}
}

// Served is a request whose handler has returned. The zero Served counts nothing.
type Served struct {
	*series
	waited time.Duration
}

// Served returns the metrics of a request. They refer to nothing else of it.
func (m *Metrics) Served(c *request.Info) Served {
	if c.Route.Verb == "" {
		return Served{}
	}
	return Served{m.requests.of(c.Route), time.Duration(c.Waited.Load())}
}

// End counts the request, which was answered with a status code after some time. size is the number of bytes of the answer. End is called
// once.
func (s Served) End(code int, size int64, took time.Duration) {
	if s.series == nil {
		return
	}
	s.codes.get(code, func() prometheus.Counter { return s.total.WithLabelValues(strconv.Itoa(code)) }).Inc()
	s.duration.Observe(took.Seconds())
	if s.served != nil {
		s.served.Observe((took - s.waited).Seconds())
	}
	if s.size != nil {
		s.size.Observe(float64(size))
	}
	if s.long != nil {
		s.long.Dec()
	}
}

// EventCounter returns a function that counts an event of a version by the size of its text.
func (m *Metrics) EventCounter(v *catalog.Version) func(size int) {
	return m.requests.counters.get(kschema.GroupVersionResource{Group: v.Group, Version: v.Name, Resource: v.Plural}, func() func(int) {
		events := m.requests.events.WithLabelValues(v.Group, v.Name, v.Plural)
		sizes := m.requests.eventSizes.WithLabelValues(v.Group, v.Name, v.Plural)
		return func(size int) {
			events.Inc()
			sizes.Observe(float64(size))
		}
	})
}

// CountDeprecated counts a request for a version that is deprecated. release is the release of Kubernetes without it, such as 1.38; it is
// empty if no such release is planned.
func (m *Metrics) CountDeprecated(route request.Route, release string) {
	m.requests.deprecated.WithLabelValues(route.Group, route.Version, route.Resource, route.Subresource, release).Set(1)
}

// Reject counts a request that exceeds a limit of requests in flight.
func (m *Metrics) Reject(r *http.Request, c *request.Info) {
	kind, route, t := "readOnly", request.PageRoute(r, ""), c.Target
	if c.IsMutating() {
		kind = "mutating"
	}
	if resource := m.served().Lookup(t.Group, t.Resource); c.IsResource && resource != nil {
		if v := resource.Version(t.Version); v != nil && v.HasSubresource(t.Subresource) {
			route = request.RouteOf(r, c, v.Custom)
		}
	}
	m.rejected.WithLabelValues(kind).Inc()
	labels := labelsOf(route)
	labels["dry_run"], labels["code"] = route.DryRun, strconv.Itoa(http.StatusTooManyRequests)
	m.requests.total.With(labels).Inc()
}
