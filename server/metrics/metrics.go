// Package metrics counts what a server does: its requests, and the operations of its store.
package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/flowcontrol"
)

// Metrics are the metrics of one server. Servers of one process count apart.
//
// Names, labels and buckets are those of kube-apiserver where it has such a metric.
type Metrics struct {
	requests    requests
	admissions  admissions
	flows       flows
	rejected    *prometheus.CounterVec
	conflicts   *prometheus.CounterVec
	Panics      prometheus.Counter
	operations  *prometheus.CounterVec
	storeWatchs prometheus.Gauge
	lost        *prometheus.CounterVec
	// APIServices tells of each APIService, by name, whether it is available. It is set before the first request.
	APIServices func() map[string]bool
	// Seats tells of the seats of each priority level. It is set before the first request, and nil without priority and fairness.
	Seats   func() []flowcontrol.Seats
	Handler http.Handler // serves the metrics to Prometheus

	served func() *catalog.Catalog
	asked  cache[asked, prometheus.Counter]
	others prometheus.Gatherers // of libraries, set before the first request
}

// InFlight counts the requests in flight, watches excepted. It is safe for concurrent use.
//
// A request is in flight until all of its work has ended, also when its client was told that its time is over, or has left.
//
// Reading and Writing are also compared with limits. Exempt requests have no limits, and are counted by whether they change something.
type InFlight struct{ Reading, Writing, ExemptReading, ExemptWriting atomic.Int64 }

// New returns the metrics of a server whose requests in flight are counted elsewhere. served returns what is served at the moment.
func New(flight *InFlight, served func() *catalog.Catalog) *Metrics {
	m := &Metrics{
		served:     served,
		requests:   newRequests(),
		admissions: newAdmissions(),
		flows:      newFlows(),
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
	r.MustRegister(m.lost, availability{m}, seats{m})
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(m.requests.all()...)
	r.MustRegister(m.admissions.all()...)
	r.MustRegister(m.flows.all()...)
	r.MustRegister(m.rejected, m.conflicts, m.Panics, m.operations, m.storeWatchs)
	for kind, count := range map[string]func() float64{
		"readOnly": func() float64 { return float64(flight.Reading.Load() + flight.ExemptReading.Load()) },
		"mutating": func() float64 { return float64(flight.Writing.Load() + flight.ExemptWriting.Load()) },
	} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests", Help: "Requests in flight that are no watches.",
			ConstLabels: prometheus.Labels{"request_kind": kind},
		}, count))
	}
	m.Handler = promhttp.HandlerFor(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return append(prometheus.Gatherers{r}, m.others...).Gather()
	}), handling)
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

// Refuse counts err if it is a conflict.
func (m *Metrics) Refuse(v *catalog.Version, err error) {
	if api.StatusOf(err).Reason == metav1.StatusReasonConflict {
		m.conflicts.WithLabelValues(v.Group, v.Name, v.Plural).Inc()
	}
}
