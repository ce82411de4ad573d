package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/deed-project/deed/server/admission/webhook"
)

// webhooks are the metrics of admission webhooks.
type webhooks struct {
	durations             *prometheus.HistogramVec
	calls, refusals, open *prometheus.CounterVec
}

func newWebhooks() webhooks {
	return webhooks{
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
func (w *webhooks) all() []prometheus.Collector {
	return []prometheus.Collector{w.durations, w.calls, w.refusals, w.open}
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
	w, operation, code, rejected := &m.webhooks, string(c.Operation), strconv.Itoa(min(c.Code, maxCode)), strconv.FormatBool(c.Rejected)
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
