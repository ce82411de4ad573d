package metrics

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// HealthChecks are the outcomes of the health checks of one server, which kube-apiserver serves at /metrics/slis as its service level
// indicators. Names and labels are the same there. It is safe for concurrent use.
type HealthChecks struct {
	last    *prometheus.GaugeVec
	all     *prometheus.CounterVec
	handler http.Handler
}

// NewHealthChecks returns the metrics of a server that was not checked yet.
func NewHealthChecks() *HealthChecks {
	h := &HealthChecks{
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_healthcheck", Help: "Whether a health check passed when it ran last.",
		}, []string{"name", "type"}),
		all: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_healthchecks_total", Help: "Health checks that ran, and how they ended.",
		}, []string{"name", "status", "type"}),
	}
	r := prometheus.NewRegistry()
	r.MustRegister(h.last, h.all, startTime{collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})})
	h.handler = promhttp.HandlerFor(r, handling)
	return h
}

// Observe counts that the check called name ran for a path, healthz, livez or readyz.
func (h *HealthChecks) Observe(name, path string, healthy bool) {
	status, value := "error", 0.0
	if healthy {
		status, value = "success", 1
	}
	h.last.WithLabelValues(name, path).Set(value)
	h.all.WithLabelValues(name, status, path).Inc()
}

// ServeHTTP serves the metrics to Prometheus. DELETE forgets them.
func (h *HealthChecks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodDelete {
		h.handler.ServeHTTP(w, r)
		return
	}
	h.last.Reset()
	h.all.Reset()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "metrics reset")
}

// startTime collects when the process started, of all that a collector tells of the process.
type startTime struct{ of prometheus.Collector }

// Describe sends the description of the start time.
func (s startTime) Describe(to chan<- *prometheus.Desc) {
	all := make(chan *prometheus.Desc)
	go func() { defer close(all); s.of.Describe(all) }()
	for d := range all {
		if isStartTime(d) {
			to <- d
		}
	}
}

// Collect sends the start time.
func (s startTime) Collect(to chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric)
	go func() { defer close(all); s.of.Collect(all) }()
	for m := range all {
		if isStartTime(m.Desc()) {
			to <- m
		}
	}
}

func isStartTime(d *prometheus.Desc) bool {
	return strings.Contains(d.String(), `"process_start_time_seconds"`)
}
