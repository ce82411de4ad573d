package discovery

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/store"
)

// Health answers the health checks.
type Health struct {
	Store   store.Store
	Checker store.Checker // nil if the store does not know whether it keeps writes
	Ended   func() error  // returns an error once the server ends
	Log     logs.Logger
}

// check is a condition under which the server is healthy.
type check struct {
	name string
	run  func(Health, context.Context) error
}

// storageTimeout is how long the store may take to answer a check, so that the check is answered within two seconds.
const storageTimeout = 1500 * time.Millisecond

var checks = []check{
	{"ping", func(Health, context.Context) error { return nil }},
	{"storage", Health.storage},
	{"shutdown", func(h Health, _ context.Context) error { return h.Ended() }},
}

// storage returns an error unless the store answers and keeps writes.
func (h Health) storage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	_, err := h.Store.Range(ctx, store.Range{Prefix: "/registry/namespaces/", Limit: 1})
	if err == nil && h.Checker != nil {
		err = h.Checker.Check()
	}
	return err
}

// serve answers with ok, or with 500 and the checks that fail.
func (h Health) serve(w http.ResponseWriter, r *http.Request, parts []string) {
	excluded, found, failed := r.URL.Query()["exclude"], false, false
	var report strings.Builder
	for _, c := range checks {
		if len(parts) > 1 && parts[1] != c.name {
			continue
		}
		found = true
		switch err := c.run(h, r.Context()); {
		case slices.Contains(excluded, c.name):
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", c.name)
		case err != nil:
			failed = true
			h.Log.Error("a health check fails", logs.Name("check", c.name), logs.Fault(err))
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
		response.NotFound(w)
	case failed:
		http.Error(w, report.String()+parts[0]+" check failed", http.StatusInternalServerError)
	case r.URL.Query().Has("verbose"):
		fmt.Fprintf(w, "%s%s check passed\n", report.String(), parts[0])
	default:
		fmt.Fprint(w, "ok")
	}
}
