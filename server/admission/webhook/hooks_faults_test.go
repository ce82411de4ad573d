package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// BenchmarkUnmatchedHooks creates an object in a dry run, with no webhooks, and with twenty configurations that are for others.
func BenchmarkUnmatchedHooks(b *testing.B) {
	for _, n := range []int{0, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var fixed []value.Value
			for i := range n {
				c, err := value.Parse([]byte(fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q,
					"metadata": {"name": "c%d"}, "webhooks": [{"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
					"clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [{"operations": ["CREATE"], "apiGroups": ["apps"],
					"apiVersions": ["*"], "resources": ["deployments", "deployments/*"]}]}]}`,
					[]string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}[i%2], i)))
				if err != nil {
					b.Fatal(err)
				}
				fixed = append(fixed, c)
			}
			s := servertest.Start(b, server.Config{Webhooks: server.Webhooks{Fixed: fixed}})
			b.ReportAllocs()
			for b.Loop() {
				code, v := servertest.Send(b, s, http.MethodPost, servertest.MapsPath+"?dryRun=All", `{"metadata": {"name": "m"}, "data": {"a": "b"}}`)
				if code != http.StatusCreated {
					b.Fatal(v)
				}
			}
		})
	}
}

// faults are ways in which a webhook fails; each takes the connection of a call.
var faults = []func(w http.ResponseWriter, r *http.Request){
	func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
	func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "boom", http.StatusInternalServerError) },
	func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("no JSON")) },
	func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{}`)) },
	func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "other", "allowed": true}}`))
	},
	func(w http.ResponseWriter, _ *http.Request) { // half an answer
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"kind": `))
		panic(http.ErrAbortHandler)
	},
	func(_ http.ResponseWriter, r *http.Request) { // none, in time
		select {
		case <-r.Context().Done():
		case <-time.After(2 * time.Second):
		}
	},
}

// TestFaultyHooks sends requests of several clients at once to a server whose webhooks fail in every way. Those that fail closed
// refuse every request, those that fail open none; and nothing is left behind.
func TestFaultyHooks(t *testing.T) {
	requests := 10000
	if testing.Short() {
		requests = 200
	}
	before := runtime.NumGoroutine()
	random := seeds.Rand(t)
	var drawing sync.Mutex
	hooks := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		drawing.Lock()
		i := random.IntN(len(faults))
		if i == len(faults)-1 && random.IntN(20) > 0 {
			i = 0 // few hang
		}
		drawing.Unlock()
		w.Header().Set("Content-Type", "application/json")
		faults[i](w, r)
	}))
	s := servertest.Start(t, server.Config{})
	more := `, "failurePolicy": "%s", "timeoutSeconds": 1, "objectSelector": {"matchLabels": {"hook": "%s"}}`
	for _, policy := range []string{"Fail", "Ignore"} {
		for path, kind := range map[string]string{
			servertest.MutatingPath: "MutatingWebhookConfiguration", servertest.ValidatingPath: "ValidatingWebhookConfiguration",
		} {
			name := strings.ToLower(policy)
			servertest.Create(t, s, path, servertest.HookConfiguration(hooks, kind, name, fmt.Sprintf(more, policy, name)))
		}
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range requests / 8 {
				if err := faultyRequest(t, s, []string{"fail", "ignore"}[i%2]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	hooks.Close()
	servertest.Await(t, func() bool { return runtime.NumGoroutine() <= before+20 })
}

// faultyRequest sends a request that webhooks of one failure policy are for.
func faultyRequest(t *testing.T, s http.Handler, policy string) error {
	body := fmt.Sprintf(`{"metadata": {"name": "m", "labels": {"hook": %q}}}`, policy)
	code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath+"?dryRun=All", body)
	want := map[string]int{"fail": http.StatusInternalServerError, "ignore": http.StatusCreated}[policy]
	if code != want {
		return errors.Join(fmt.Errorf("a webhook with failurePolicy %s: %d, want %d", policy, code, want), errors.New(v.String()))
	}
	return nil
}
