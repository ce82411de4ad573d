package watch_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// lagging is a store whose watches are told of everything a second late: store.Store.
type lagging struct{ store.Store }

// Watch is told late.
func (s lagging) Watch(ctx context.Context, prefix string, after store.Revision) (iter.Seq2[store.Batch, error], error) {
	batches, err := s.Store.Watch(ctx, prefix, after)
	return func(yield func(store.Batch, error) bool) {
		for b, err := range batches {
			if time.Sleep(time.Second); !yield(b, err) {
				return
			}
		}
	}, err
}

// TestLaggingServer deletes a definition through one server, and creates an object through another that has not heard of it yet. As among
// several kube-apiservers, that is taken; nobody serves the object from then on, until the resource is defined once more.
func TestLaggingServer(t *testing.T) {
	definitions := servertest.WidgetDefinitions(t)
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		begin := func(s store.Store) *server.Server {
			server, err := server.New(server.Config{Store: s, Objects: definitions, Shared: true, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			return server
		}
		one, late := begin(objects), begin(lagging{objects})
		defer one.Close()
		defer late.Close()
		time.Sleep(45 * time.Second) // between two looks for deletions that others left, each half a minute: from them late would learn as well
		expect := func(s *server.Server, request, body string, code int) {
			t.Helper()
			if w := servertest.Ask(s, request, body); w.Code != code {
				t.Errorf("%s: %d %s, want %d", request, w.Code, w.Body, code)
			}
		}
		const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org"
		expect(one, "DELETE "+definition, "", http.StatusOK)
		synctest.Wait()
		expect(one, "GET "+definition, "", http.StatusNotFound)
		expect(late, "POST "+servertest.Things+servertest.JSON, servertest.Web, http.StatusCreated)
		time.Sleep(time.Minute)
		for _, s := range []*server.Server{one, late} {
			expect(s, "GET "+servertest.Things+"/web", "", http.StatusNotFound)
			expect(s, "POST "+servertest.Things+servertest.JSON, servertest.Web, http.StatusNotFound)
		}
		if _, err := objects.Get(t.Context(), "/registry/example.org/widgets/default/web", 0); err != nil {
			t.Error(err)
		}
		if err := one.Create(t.Context(), definitions[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		expect(late, "GET "+servertest.Things+"/web", "", http.StatusOK)
	})
}
