package filters

import (
	"math"
	"net/http"
	"sync/atomic"

	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// WithMaxInFlight answers with 429 a request that exceeds the limit of requests in flight. Members of system:masters are exempt, and are
// counted apart. Long-running requests are not counted.
//
// It adds first and takes back what was too much, so the limit holds without a lock. Requests that are refused do not wait in a queue, as
// in a kube-apiserver without priority and fairness.
func WithMaxInFlight(limits Limits, flight *metrics.InFlight, m *metrics.Metrics, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := request.From(r.Context())
		if ctx.IsLongRunning() {
			next.ServeHTTP(w, r)
			return
		}
		count, limit := countOf(ctx, limits, flight)
		if count.Add(1) > int64(limit) {
			count.Add(-1)
			m.Reject(ctx.Info)
			response.Overloaded(w)
			return
		}
		defer count.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// countOf returns the count of requests that a request belongs to, and its limit.
//
// Reads and writes have separate limits, so that one cannot starve the other.
func countOf(ctx *request.Context, limits Limits, flight *metrics.InFlight) (count *atomic.Int64, limit int) {
	switch {
	case ctx.User.IsMaster():
		return &flight.Exempt, math.MaxInt
	case ctx.IsMutating():
		return &flight.Writing, limits.Writing
	}
	return &flight.Reading, limits.Reading
}
