package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
)

// check is something that must be well for the server to do its work.
type check struct {
	name string
	run  func(*Server, *http.Request) error
}

// storagePatience is how long the store may take to answer a check: what waits for a check gets its answer within two seconds.
const storagePatience = 1500 * time.Millisecond

var checks = []check{
	{"ping", func(*Server, *http.Request) error { return nil }},
	{"storage", func(s *Server, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
		defer cancel()
		_, err := s.backend.Store.Range(ctx, store.Range{Prefix: "/registry/namespaces/", Limit: 1})
		if err == nil && s.checker != nil {
			err = s.checker.Check()
		}
		return err
	}},
	{"shutdown", func(s *Server, _ *http.Request) error { return s.ctx.Err() }},
}

// health answers how the server does: ok, or 500 with the checks that fail.
func (s *Server) health(w http.ResponseWriter, r *http.Request, parts []string) {
	excluded, found, failed := r.URL.Query()["exclude"], false, false
	var report strings.Builder
	for _, c := range checks {
		if len(parts) > 1 && parts[1] != c.name {
			continue
		}
		found = true
		switch err := c.run(s, r); {
		case slices.Contains(excluded, c.name):
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", c.name)
		case err != nil:
			failed = true
			s.log.Error("a health check fails", logs.Name("check", c.name), logs.Fault(err))
			fmt.Fprintf(&report, "[-]%s failed: reason withheld\n", c.name)
		default:
			fmt.Fprintf(&report, "[+]%s ok\n", c.name)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if len(parts) == 1 {
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	switch {
	case !found || len(parts) > 2:
		notFoundText(w)
	case failed:
		http.Error(w, report.String()+parts[0]+" check failed", http.StatusInternalServerError)
	case r.URL.Query().Has("verbose"):
		fmt.Fprintf(w, "%s%s check passed\n", report.String(), parts[0])
	default:
		fmt.Fprint(w, "ok")
	}
}
