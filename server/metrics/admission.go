package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kubemetrics "k8s.io/component-base/metrics"
	podapi "k8s.io/pod-security-admission/api"
	podmetrics "k8s.io/pod-security-admission/metrics"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
)

// admissions are the metrics of the steps of admission, and of webhooks.
type admissions struct {
	steps                 *prometheus.HistogramVec
	durations             *prometheus.HistogramVec // of calls
	calls, refusals, open *prometheus.CounterVec

	series cache[admission.Step, prometheus.Observer]
}

func newAdmissions() admissions {
	return admissions{
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_admission_step_admission_duration_seconds", Help: "How long the mutating and the validating plugins of a write took.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5},
		}, []string{"type", "operation", "rejected"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_admission_webhook_admission_duration_seconds", Help: "How long calls of admission webhooks took.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25},
		}, []string{"name", "type", "operation", "rejected"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_request_total", Help: "Calls of admission webhooks, by the codes of their answers.",
		}, []string{"name", "type", "operation", "code", "rejected"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_rejection_count", Help: "Requests that admission webhooks refused, or failed to answer.",
		}, []string{"name", "type", "operation", "error_type", "rejection_code"}),
		open: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_fail_open_count", Help: "Failures of admission webhooks that their failure policy ignores.",
		}, []string{"name", "type"}),
	}
}

// all returns the metrics.
func (w *admissions) all() []prometheus.Collector {
	return []prometheus.Collector{w.steps, w.durations, w.calls, w.refusals, w.open}
}

// Admit counts a step of admission.
func (m *Metrics) Admit(s admission.Step, took time.Duration) {
	m.admissions.series.get(s, func() prometheus.Observer {
		return m.admissions.steps.WithLabelValues(s.Type, string(s.Operation), strconv.FormatBool(s.Rejected))
	}).Observe(took.Seconds())
}

// maxCode bounds the codes of webhooks, which may answer with any number.
const maxCode = 600

// refusalTypes are the values of error_type for outcomes that may refuse a request.
var refusalTypes = map[webhook.Outcome]string{
	webhook.Denied: "no_error", webhook.Failed: "calling_webhook_error", webhook.Faulty: "apiserver_internal_error",
}

// CallWebhook counts a call of an admission webhook.
func (m *Metrics) CallWebhook(c webhook.Call) {
	step := "validating"
	if c.Mutating {
		step = "admit"
	}
	w, operation, code, rejected := &m.admissions, string(c.Operation), strconv.Itoa(min(c.Code, maxCode)), strconv.FormatBool(c.Rejected)
	w.durations.WithLabelValues(c.Hook, step, operation, rejected).Observe(c.Took.Seconds())
	w.calls.WithLabelValues(c.Hook, step, operation, code, rejected).Inc()
	kind, counted := refusalTypes[c.Outcome]
	switch {
	case c.Rejected && counted:
		w.refusals.WithLabelValues(c.Hook, step, operation, kind, code).Inc()
	case c.Outcome == webhook.Failed:
		w.open.WithLabelValues(c.Hook, step).Inc()
	}
}

// PodSecurity returns what counts the evaluations of the admission plugin PodSecurity, in a server that is a minor release of Kubernetes. Its
// metrics are served from now on.
func (m *Metrics) PodSecurity(minor int) podmetrics.Recorder {
	recorder, registry := podmetrics.NewPrometheusRecorder(podapi.MajorMinorVersion(1, minor)), kubemetrics.NewKubeRegistry()
	recorder.MustRegister(registry.MustRegister)
	m.others = append(m.others, registry)
	return recorder
}
