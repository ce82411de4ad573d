package filters

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// WithAudit records the request in the audit log. The record names the user who sent the request; filters and handlers behind it add what
// they find out. A watch is recorded as complete when [request.Info.After] returns.
func WithAudit(recorder *audit.Recorder, next http.HandlerFunc) http.HandlerFunc {
	if recorder == nil {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, tracked := request.From(r.Context()), response.Track(w)
		record := recorder.Begin(r, ctx.Action(), ctx.User, w.Header().Get("Audit-Id"))
		if record == nil {
			next(w, r)
			return
		}
		if !record.Receive() {
			internalError(w, r, "failed to store audit event")
			return
		}
		endless := ctx.IsLongRunning()
		ctx.Record, tracked.Begun = record, func(code int) { record.Begin(code, endless) }
		defer func() {
			if v := recover(); v != nil {
				record.Panic(v)
				panic(v)
			}
			if after := ctx.After; after != nil {
				ctx.After = func() (size int64) {
					defer record.Complete(endless)
					return after()
				}
				return
			}
			record.Complete(endless)
		}()
		next(tracked, r)
	}
}

// recordRefusal records a request that is refused before its user is known. Its only event is that the answer begins. The event has the message
// if the answer is no Status that a client takes.
func recordRefusal(recorder *audit.Recorder, w http.ResponseWriter, r *http.Request, message string) {
	ctx := request.From(r.Context())
	if ctx.Record = recorder.Begin(r, ctx.Action(), auth.User{}, w.Header().Get("Audit-Id")); ctx.Record != nil {
		ctx.Record.Answer(&metav1.Status{Message: message}, nil)
		response.Track(w).Begun = func(code int) { ctx.Record.Begin(code, true) }
	}
}

// attempts names the credentials that a request has, none of which count.
func attempts(r *http.Request) string {
	var out []string
	if _, _, ok := r.BasicAuth(); ok {
		out = append(out, "basic")
	}
	if words := strings.Split(strings.TrimSpace(r.Header.Get("Authorization")), " "); len(words) > 1 && strings.EqualFold(words[0], "bearer") {
		out = append(out, "bearer")
	}
	if strings.TrimSpace(r.URL.Query().Get("access_token")) != "" {
		out = append(out, "access_token")
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		out = append(out, "x509")
	}
	if out == nil {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(out, ", ")
}
