package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
)

// metrics are what a server counts. They are its own: servers of one process count apart.
//
// Names and labels are those of kube-apiserver where it has such a metric. Requests are told apart by what is served, and not by
// what clients write into paths, so that there is an end to the labels.
type metrics struct {
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	long        *prometheus.GaugeVec
	rejected    *prometheus.CounterVec
	conflicts   *prometheus.CounterVec
	panics      prometheus.Counter
	operations  *prometheus.CounterVec
	storeWatchs prometheus.Gauge
	handler     http.Handler
}

var requestLabels = []string{"verb", "group", "version", "resource", "subresource", "scope"}

func newMetrics(flight *inFlight) *metrics {
	m := &metrics{
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
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "apiserver_panics_total", Help: "Requests that panicked."}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_storage_operations_total", Help: "What was asked of the store, and whether it failed.",
		}, []string{"operation", "failed"}),
		storeWatchs: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "apiserver_storage_watches", Help: "Watches of the store under way.",
		}),
	}
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests, m.durations, m.long, m.rejected, m.conflicts, m.panics, m.operations, m.storeWatchs)
	for kind, count := range map[string]func() float64{
		"readOnly": func() float64 { return float64(flight.reading.Load()) },
		"mutating": func() float64 { return float64(flight.writing.Load()) },
	} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests", Help: "Requests in flight that are no watches.",
			ConstLabels: prometheus.Labels{"request_kind": kind},
		}, count))
	}
	m.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return m
}

// labels returns the labels of a request: of one for something that is not served, nothing but what it does.
func labels(c *call, served *catalog.Catalog) []string {
	verb := strings.ToUpper(c.verb)
	switch c.verb {
	case "create":
		verb = http.MethodPost
	case "update":
		verb = http.MethodPut
	case "":
		verb = "other"
		if c.method == http.MethodGet {
			verb = c.method
		}
	}
	t := c.target
	resource := served.Lookup(t.Group, t.Resource)
	if !c.resource || resource == nil || resource.Version(t.Version) == nil {
		return []string{verb, "", "", "", "", ""}
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
	return []string{verb, t.Group, t.Version, t.Resource, sub, scope}
}

// begin counts that a request begins; what it returns counts that it is answered.
func (m *metrics) begin(c *call, served *catalog.Catalog) (end func(code int)) {
	is, start := labels(c, served), time.Now()
	if c.long() {
		m.long.WithLabelValues(is...).Inc()
	}
	return func(code int) {
		m.requests.WithLabelValues(append(is, strconv.Itoa(code))...).Inc()
		if c.long() {
			m.long.WithLabelValues(is...).Dec()
			return
		}
		m.durations.WithLabelValues(is...).Observe(time.Since(start).Seconds())
	}
}

// reject counts a request that is told to come again.
func (m *metrics) reject(c *call) {
	kind := "readOnly"
	if c.writes() {
		kind = "mutating"
	}
	m.rejected.WithLabelValues(kind).Inc()
}

// refused counts err if it is a conflict.
func (m *metrics) refused(v *catalog.Version, err error) {
	if api.StatusOf(err).Reason == metav1.StatusReasonConflict {
		m.conflicts.WithLabelValues(v.Group, v.Name, v.Plural).Inc()
	}
}
