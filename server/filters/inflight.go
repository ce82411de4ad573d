package filters

import (
	"cmp"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/flowcontrol"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// WithMaxInFlight answers with 429 a request that exceeds the limit of requests in flight. Members of system:masters are exempt. Long-running
// requests are not counted.
//
// It adds first and takes back what was too much, so the limit holds without a lock. Requests that are refused do not wait in a queue, as
// in a kube-apiserver without priority and fairness.
func WithMaxInFlight(limits Limits, flight *metrics.InFlight, m *metrics.Metrics, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := request.From(r.Context())
		if ctx.IsLongRunning() {
			next(w, r)
			return
		}
		count, limit := countOf(ctx, limits, flight)
		if count.Add(1) > int64(limit) {
			count.Add(-1)
			m.Reject(r, ctx.Info)
			response.Overloaded(w, 1)
			return
		}
		defer count.Add(-1)
		next(w, r)
	}
}

// countOf returns the count of requests that a request belongs to, and its limit.
//
// Reads and writes have separate limits, so that one cannot starve the other.
func countOf(ctx *request.Context, limits Limits, flight *metrics.InFlight) (count *atomic.Int64, limit int) {
	exempt := ctx.User.IsMaster()
	count = countIn(ctx, exempt, flight)
	switch {
	case exempt:
		return count, math.MaxInt
	case ctx.IsMutating():
		return count, limits.Writing
	}
	return count, limits.Reading
}

// Headers by which an answer names the flow of its request.
const (
	schemaHeader = "X-Kubernetes-Pf-Flowschema-Uid"
	levelHeader  = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// WithPriorityAndFairness carries a request out once its priority level has a seat for it, and answers with 429 if the level refuses it: the
// header Retry-After grows as long as the level refuses requests. The answer names the FlowSchema of the request and the level by their UIDs,
// refusals by later filters included. Long-running requests are not classified, except for watches: these wait for their turn, and then hold no
// seat.
//
// It stands in the place of WithMaxInFlight.
func WithPriorityAndFairness(flows *flowcontrol.Controller, limits Limits, flight *metrics.InFlight, m *metrics.Metrics, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := request.From(r.Context())
		isWatch := ctx.Verb == "watch"
		if ctx.IsLongRunning() && !isWatch {
			next(w, r)
			return
		}
		flow := flows.Classify(ctx, ctx.User, ctx.Info)
		h := w.Header()
		h[schemaHeader], h[levelHeader] = flow.Schema, flow.Level
		count, series, since := countIn(ctx, flow.Exempt, flight), m.Flow(flow), time.Now()
		series.Enqueue()
		why := flow.Do(ctx, patience(ctx, limits), func() {
			began := time.Now()
			ctx.Waited.Add(int64(began.Sub(since)))
			series.Dispatch(began.Sub(since))
			defer func() { series.Finish(time.Since(began), isWatch) }()
			if isWatch {
				return
			}
			count.Add(1)
			defer count.Add(-1)
			next(w, r)
		})
		switch {
		case why != "":
			series.Reject(why, time.Since(since))
			m.Reject(r, ctx.Info)
			response.Overloaded(w, flow.Refuse())
		case isWatch:
			next(w, r)
		}
	}
}

// countIn returns the count of requests in flight that a request belongs to. exempt tells that no limit bounds it.
func countIn(ctx *request.Context, exempt bool, flight *metrics.InFlight) *atomic.Int64 {
	switch {
	case exempt && ctx.IsMutating():
		return &flight.ExemptWriting
	case exempt:
		return &flight.ExemptReading
	case ctx.IsMutating():
		return &flight.Writing
	}
	return &flight.Reading
}

// patience returns how long a request waits in a queue: a quarter of its time. Watches have as much as others.
func patience(ctx *request.Context, limits Limits) time.Duration {
	return min(cmp.Or(ctx.Timeout, limits.Request)/4, time.Minute)
}
