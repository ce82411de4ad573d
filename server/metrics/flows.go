package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/deed-project/deed/server/flowcontrol"
)

// flows are the metrics of priority and fairness: of requests, by their priority level and FlowSchema, and of the seats of levels.
type flows struct {
	dispatched, rejected     *prometheus.CounterVec
	queued, executing, seats *prometheus.GaugeVec
	waits, executions        *prometheus.HistogramVec

	series cache[flowKey, *FlowSeries]
}

type flowKey struct{ level, schema string }

// flowBuckets are seconds that requests wait or are carried out.
var flowBuckets = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}

func newFlows() flows {
	of := func(more ...string) []string { return append([]string{"priority_level", "flow_schema"}, more...) }
	const prefix = "apiserver_flowcontrol_"
	counter := func(name, help string, labels []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, of())
	}
	seconds := func(name, help string, labels []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: flowBuckets}, labels)
	}
	return flows{
		dispatched: counter("dispatched_requests_total", "Requests that got a seat.", of()),
		rejected:   counter("rejected_requests_total", "Requests that got no seat.", of("reason")),
		queued:     gauge("current_inqueue_requests", "Requests that wait for a seat."),
		executing:  gauge("current_executing_requests", "Requests that have a seat."),
		seats:      gauge("current_executing_seats", "Seats that requests have."),
		waits:      seconds("request_wait_duration_seconds", "How long requests waited for a seat.", of("execute")),
		executions: seconds("request_execution_seconds", "How long requests had a seat.", of("type")),
	}
}

// all returns the metrics.
func (f *flows) all() []prometheus.Collector {
	return []prometheus.Collector{f.dispatched, f.rejected, f.queued, f.executing, f.seats, f.waits, f.executions}
}

// FlowSeries are the metrics of the requests of one FlowSchema in one priority level. Requests of an exempt level do not wait for a seat.
type FlowSeries struct {
	of               *flows
	level, schema    string
	dispatched       prometheus.Counter
	queued           prometheus.Gauge    // nil for an exempt level
	waited           prometheus.Observer // likewise
	executing, seats prometheus.Gauge
}

// Flow returns the metrics of the requests of a flow.
func (m *Metrics) Flow(f flowcontrol.Flow) *FlowSeries {
	return m.flows.series.get(flowKey{f.LevelName, f.SchemaName}, func() *FlowSeries {
		of, level, schema := &m.flows, f.LevelName, f.SchemaName
		s := &FlowSeries{
			of: of, level: level, schema: schema, dispatched: of.dispatched.WithLabelValues(level, schema),
			executing: of.executing.WithLabelValues(level, schema), seats: of.seats.WithLabelValues(level, schema),
		}
		if !f.Exempt {
			s.queued, s.waited = of.queued.WithLabelValues(level, schema), of.waits.WithLabelValues(level, schema, "true")
		}
		return s
	})
}

// Enqueue counts a request that asks for a seat. Dispatch or Reject follows.
func (s *FlowSeries) Enqueue() {
	if s.queued != nil {
		s.queued.Inc()
	}
}

// Dispatch counts a request that got a seat after it waited. Finish follows.
func (s *FlowSeries) Dispatch(waited time.Duration) {
	if s.queued != nil {
		s.queued.Dec()
		s.waited.Observe(waited.Seconds())
	}
	s.dispatched.Inc()
	s.executing.Inc()
	s.seats.Inc()
}

// Finish counts a request that gives its seat back. A watch does so as soon as it begins.
func (s *FlowSeries) Finish(took time.Duration, isWatch bool) {
	s.executing.Dec()
	s.seats.Dec()
	kind := "regular"
	if isWatch {
		kind = "watch"
	}
	s.of.executions.WithLabelValues(s.level, s.schema, kind).Observe(took.Seconds())
}

// Reject counts a request that got no seat. An exempt level rejects none.
func (s *FlowSeries) Reject(why flowcontrol.Refusal, waited time.Duration) {
	s.queued.Dec()
	s.of.rejected.WithLabelValues(s.level, s.schema, string(why)).Inc()
	s.of.waits.WithLabelValues(s.level, s.schema, "false").Observe(waited.Seconds())
}

// seats collects how many seats the priority levels have.
type seats struct{ of *Metrics }

// seatGauges describe the gauges of a priority level, each with its value.
var seatGauges = []struct {
	desc  *prometheus.Desc
	value func(flowcontrol.Seats) int
}{
	{seatGauge("nominal_limit_seats", "The seats of a priority level by its shares."), func(s flowcontrol.Seats) int { return s.Nominal }},
	{seatGauge("lower_limit_seats", "The seats that a priority level keeps."), func(s flowcontrol.Seats) int { return s.Least }},
	{seatGauge("upper_limit_seats", "The seats that a priority level may have."), func(s flowcontrol.Seats) int { return s.Most }},
	{seatGauge("current_limit_seats", "The seats that a priority level has."), func(s flowcontrol.Seats) int { return s.Current }},
}

func seatGauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("apiserver_flowcontrol_"+name, help, []string{"priority_level"}, nil)
}

// Describe sends the descriptions of the gauges.
func (seats) Describe(to chan<- *prometheus.Desc) {
	for _, g := range seatGauges {
		to <- g.desc
	}
}

// Collect sends the gauges of each priority level.
func (s seats) Collect(to chan<- prometheus.Metric) {
	if s.of.Seats == nil {
		return
	}
	for _, level := range s.of.Seats() {
		for _, g := range seatGauges {
			to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(g.value(level)), level.Level)
		}
	}
}
