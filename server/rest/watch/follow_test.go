package watch_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// TestResume ends a server while a namespace or a definition waits to be deleted; the next one on the same store deletes it when it can.
func TestResume(t *testing.T) {
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for _, c := range []struct{ holders, name, holder, objects, held, key string }{
		{
			servertest.Core + "namespaces", "shop", `{"metadata":{"name":"shop"}}`,
			servertest.Core + "namespaces/shop/configmaps", `{"metadata":{"name":"held","finalizers":["example.org/hold"]}}`, "/registry/configmaps/shop/held",
		},
		{
			definitions, "gadgets.example.org", servertest.Gadgets, servertest.Group + "namespaces/default/gadgets",
			`{"apiVersion":"example.org/v1","kind":"Gadget","metadata":{"name":"held","finalizers":["example.org/hold"]}}`,
			"/registry/example.org/gadgets/default/held",
		},
	} {
		objects := memory.New()
		defer objects.Close()
		run := func(use func(*server.Server)) {
			s, err := server.New(server.Config{Store: objects, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			use(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		run(func(s *server.Server) {
			for _, step := range []struct{ request, body string }{
				{"POST " + c.holders, c.holder}, {"POST " + c.objects, c.held}, {"DELETE " + c.holders + "/" + c.name, ""},
			} {
				if w := servertest.Ask(s, step.request, step.body); w.Code >= 300 {
					t.Fatalf("%s: %d %s", step.request, w.Code, w.Body)
				}
			}
		})
		held, err := objects.Get(t.Context(), c.key, 0)
		if err != nil {
			t.Fatal(err)
		}
		// Another server lets go of it, and ends before it could do more.
		if _, err := objects.Put(t.Context(), c.key, bytes.Replace(held.Text, []byte(`"finalizers":["example.org/hold"],`), nil, 1), held.Revision); err != nil {
			t.Fatal(err)
		}
		run(func(s *server.Server) {
			servertest.Await(t, func() bool { return servertest.Ask(s, "GET "+c.holders+"/"+c.name, "").Code == http.StatusNotFound })
		})
	}
}

// TestEventTTL waits until the time of an Event is over, in the time of a bubble: it is deleted, and what is no Event stays.
func TestEventTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Stage(t, memory.New())
		const events = servertest.Core + "namespaces/default/events"
		if w := servertest.Ask(s, "POST "+events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`); w.Code != http.StatusCreated {
			t.Fatal(w.Body)
		}
		time.Sleep(59 * time.Minute)
		if w := servertest.Ask(s, "GET "+events+"/e", ""); w.Code != http.StatusOK {
			t.Errorf("after 59 minutes: %d", w.Code)
		}
		time.Sleep(2 * time.Minute)
		if w := servertest.Ask(s, "GET /apis/events.k8s.io/v1/namespaces/default/events/e", ""); w.Code != http.StatusNotFound {
			t.Errorf("after 61 minutes: %d", w.Code)
		}
		if w := servertest.Ask(s, "GET "+servertest.Core+"namespaces/default/configmaps/settings", ""); w.Code != http.StatusOK {
			t.Errorf("a ConfigMap after 61 minutes: %d", w.Code)
		}
	})
}
