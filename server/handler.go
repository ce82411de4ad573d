package server

import (
	"net/http"

	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// filtered returns next behind the filters that every request passes, the last one first.
//
// A request passes them from the last line to the first. The order has reasons:
//
//	AuditID, Metrics            mark every answer, and count those of handlers
//	PanicRecovery               inside of them, so that a panic is counted as an answer with 500
//	RequestInfo                 before everything that depends on what the path names
//	Deadline                    before anything that may take time
//	Authentication              before everything that depends on the user
//	Audit                       records the user who sent the request, and what the rest makes of it
//	Impersonation               the rest sees the other user
//	MaxInFlight                 knows masters, who are exempt; PriorityAndFairness may stand in its place
//	OriginCheck, Authorization  decide about the request itself
func (s *Server) filtered(next http.HandlerFunc) http.HandlerFunc {
	h := filters.WithAuthorization(s.access, s.out, next)
	h = filters.WithOriginCheck(s.access, s.out, h)
	if s.flows != nil {
		h = filters.WithPriorityAndFairness(s.flows, s.limits, &s.flight, s.metrics, h)
	} else {
		h = filters.WithMaxInFlight(s.limits, &s.flight, s.metrics, h)
	}
	h = filters.WithImpersonation(s.access, s.out, h)
	h = filters.WithAudit(s.recorder, h)
	h = filters.WithAuthentication(s.access, s.recorder, s.out, h)
	h = filters.WithDeadline(s.limits, s.recorder, s.out, h)
	h = filters.WithRequestInfo(h)
	h = filters.WithPanicRecovery(s.panics, h)
	h = filters.WithMetrics(s.metrics, h)
	h = filters.WithAuditID(h)
	return filters.WithBodyRead(h)
}

// ServeHTTP answers a request: behind the filters, route leads it to what its path names. A watch goes on after both have returned, so that
// an idle watch holds little memory.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if after := s.begin(w, r); after != nil {
		after()
	}
}

// begin is ServeHTTP up to what goes on after the filters, which it returns.
//
// The context of the request holds all that filters find out. It refers to the request of net/http as little as possible, since a watch
// keeps it.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) (after func() int64) {
	info, asked := request.NewInfo(r), r
	r = r.WithContext(&request.Context{Context: r.Context(), Info: info})
	l := request.ListenerOf(info.Client)
	if l != nil && l.TLS != nil {
		r.TLS = l.TLS // which net/http does not see: see [transport.Listener]
	}
	s.handler(response.Track(w), r)
	if info.After != nil && l != nil {
		asked.Header = nil // net/http keeps the request as long as the watch goes on
	}
	return info.After
}
