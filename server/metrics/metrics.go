// Package metrics counts what a server does: its requests, and the operations of its store.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/request"
)

// Metrics are the metrics of one server. Servers of one process count apart.
//
// Names and labels are those of kube-apiserver where it has such a metric. Requests are told apart by what is served, and not by
// what clients write into paths, so that there is an end to the labels.
//
// Counting a request takes two lookups in caches, by its labels and by its code. The library would make a hash of all labels each time.
type Metrics struct {
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	long        *prometheus.GaugeVec
	rejected    *prometheus.CounterVec
	conflicts   *prometheus.CounterVec
	Panics      prometheus.Counter
	operations  *prometheus.CounterVec
	storeWatchs prometheus.Gauge
	lost        *prometheus.CounterVec
	// APIServices tells of each APIService, by name, whether it is available. It is set before the first request.
	APIServices func() map[string]bool
	Handler     http.Handler // serves the metrics to Prometheus

	series cache[labeled, *series]
	asked  cache[asked, prometheus.Counter]
}

var requestLabels = []string{"verb", "group", "version", "resource", "subresource", "scope"}

// InFlight counts the requests in flight, watches excepted. It is safe for concurrent use.
//
// A request is in flight until all of its work has ended, also when its client was told that its time is over, or has left.
//
// Its fields are counts that WithMaxInFlight also compares with limits.
type InFlight struct{ Reading, Writing, Exempt atomic.Int64 }

// New returns the metrics of a server whose requests in flight are counted elsewhere.
func New(flight *InFlight) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests that were answered.",
		}, append(requestLabels[:len(requestLabels):len(requestLabels)], "code")),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_request_duration_seconds", Help: "How long requests took that are no watches.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
		}, requestLabels),
		long: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Watches under way.",
		}, requestLabels),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_rejected_requests_total", Help: "Requests that were told to come again.",
		}, []string{"request_kind"}),
		conflicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_conflicts_total", Help: "Writes that were refused for a conflict, of field managers or of versions.",
		}, []string{"group", "version", "resource"}),
		Panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "apiserver_panics_total", Help: "Requests that panicked."}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_storage_operations_total", Help: "What was asked of the store, and whether it failed.",
		}, []string{"operation", "failed"}),
		storeWatchs: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "apiserver_storage_watches", Help: "Watches of the store under way.",
		}),
	}
	m.lost = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "aggregator_unavailable_apiservice_total", Help: "APIServices that were found unavailable.",
	}, []string{"name", "reason"})
	r := prometheus.NewRegistry()
	r.MustRegister(m.lost, availability{m})
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(m.requests, m.durations, m.long, m.rejected, m.conflicts, m.Panics, m.operations, m.storeWatchs)
	for kind, count := range map[string]func() float64{
		"readOnly": func() float64 { return float64(flight.Reading.Load()) },
		"mutating": func() float64 { return float64(flight.Writing.Load()) },
		"exempt":   func() float64 { return float64(flight.Exempt.Load()) },
	} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests", Help: "Requests in flight that are no watches.",
			ConstLabels: prometheus.Labels{"request_kind": kind},
		}, count))
	}
	m.Handler = promhttp.HandlerFor(r, handling)
	return m
}

// handling makes answers say when the process started.
var handling = promhttp.HandlerOpts{ProcessStartTime: time.Now()}

// LoseAPIService counts an APIService that is no longer available.
func (m *Metrics) LoseAPIService(name, reason string) { m.lost.WithLabelValues(name, reason).Inc() }

// unavailable describes the gauge of each APIService.
var unavailable = prometheus.NewDesc("aggregator_unavailable_apiservice", "Whether an APIService is unavailable.", []string{"name"}, nil)

// availability collects whether APIServices are available.
type availability struct{ of *Metrics }

// Describe sends the description of the gauge.
func (availability) Describe(to chan<- *prometheus.Desc) { to <- unavailable }

// Collect sends the gauge of each APIService.
func (a availability) Collect(to chan<- prometheus.Metric) {
	if a.of.APIServices == nil {
		return
	}
	for name, isAvailable := range a.of.APIServices() {
		gauge := 1.0
		if isAvailable {
			gauge = 0
		}
		to <- prometheus.MustNewConstMetric(unavailable, prometheus.GaugeValue, gauge, name)
	}
}

// labeled are the labels of requests, and whether these last as long as the client wants.
type labeled struct {
	labels [6]string
	long   bool
}

// verbLabels are the labels of verbs.
var verbLabels = map[string]string{
	"get": http.MethodGet, "list": "LIST", "watch": "WATCH", "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": "DELETECOLLECTION",
}

// labels returns the labels of a request: of one for something that is not served, nothing but what it does.
//
// A path that names nothing that is served has no labels but the verb. Otherwise clients could make series without end.
func labels(c *request.Info, served *catalog.Catalog) [6]string {
	verb := verbLabels[c.Verb]
	if verb == "" {
		verb = "other"
		if c.Method == http.MethodGet {
			verb = c.Method
		}
	}
	t := c.Target
	resource := served.Lookup(t.Group, t.Resource)
	if !c.IsResource || resource == nil || resource.Version(t.Version) == nil {
		return [6]string{verb}
	}
	scope := "cluster"
	switch {
	case t.Name != "":
		scope = "resource"
	case t.Namespace != "":
		scope = "namespace"
	}
	sub := t.Subresource
	if sub != "" && sub != "status" && sub != "scale" && sub != "finalize" {
		sub = "other"
	}
	return [6]string{verb, t.Group, t.Version, t.Resource, sub, scope}
}

// series are the metrics of requests with the same labels, found once.
type series struct {
	requests *prometheus.CounterVec // by code
	codes    cache[int, prometheus.Counter]
	duration prometheus.Observer // nil for long-running requests
	long     prometheus.Gauge    // nil for others
}

// seriesOf returns the metrics of requests that have the labels of c.
//
// A series is made once for each set of labels, and stays.
func (m *Metrics) seriesOf(c *request.Info, served *catalog.Catalog) *series {
	is := labels(c, served)
	return m.series.get(labeled{is, c.IsLongRunning()}, func() *series {
		of := prometheus.Labels{}
		for i, name := range requestLabels {
			of[name] = is[i]
		}
		s := &series{requests: m.requests.MustCurryWith(of)}
		if c.IsLongRunning() {
			s.long = m.long.With(of)
		} else {
			s.duration = m.durations.With(of)
		}
		return s
	})
}

// Running is a request that began. The zero Running counts nothing.
//
// End is called once.
type Running struct {
	*series
	since time.Time
}

// Begin counts that a request begins.
func (m *Metrics) Begin(c *request.Info, served *catalog.Catalog) Running {
	u := Running{m.seriesOf(c, served), time.Now()}
	if u.long != nil {
		u.long.Inc()
	}
	return u
}

// End counts that the request is answered with a status code.
func (u Running) End(code int) {
	if u.series == nil {
		return
	}
	u.codes.get(code, func() prometheus.Counter { return u.requests.WithLabelValues(strconv.Itoa(code)) }).Inc()
	if u.long != nil {
		u.long.Dec()
		return
	}
	u.duration.Observe(time.Since(u.since).Seconds())
}

// cache keeps a value for each key. The zero cache is empty. It is safe for concurrent use.
//
// It has no bound: keys come from what is served. mu guards of, and is held while a value is made, so each is made once.
type cache[K comparable, V any] struct {
	mu sync.RWMutex
	of map[K]V
}

// get returns the value of a key, and makes it if there is none.
func (m *cache[K, V]) get(key K, make func() V) V {
	m.mu.RLock()
	v, ok := m.of[key]
	m.mu.RUnlock()
	if ok {
		return v
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[K]V{}
	}
	if v, ok = m.of[key]; !ok {
		v = make()
		m.of[key] = v
	}
	return v
}

// Reject counts a request that exceeds a limit of requests in flight.
func (m *Metrics) Reject(c *request.Info) {
	kind := "readOnly"
	if c.IsMutating() {
		kind = "mutating"
	}
	m.rejected.WithLabelValues(kind).Inc()
}

// Refuse counts err if it is a conflict.
func (m *Metrics) Refuse(v *catalog.Version, err error) {
	if api.StatusOf(err).Reason == metav1.StatusReasonConflict {
		m.conflicts.WithLabelValues(v.Group, v.Name, v.Plural).Inc()
	}
}
