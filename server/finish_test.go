package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/value"
)

// holder is something whose deletion waits for objects.
type holder struct {
	path, objects, apiVersion, kind string
	asks                            bool // admission is asked about the deletion of each object
}

var holders = []holder{
	{"/api/v1/namespaces/big", "/api/v1/namespaces/big/configmaps", "v1", "ConfigMap", true},
	{controllers.DefinitionsPath + "things.g.org", "/apis/g.org/v1/things", "g.org/v1", "Kindthings", false},
}

// fill returns a server where both holders hold so many objects. Admission asks about deletions.
func (h holder) fill(t *testing.T, objects int, finalizer string, ask func(name string) error) *Server {
	t.Helper()
	s, err := New(Config{Objects: []value.Value{namespaces.New("big"), thing(t, "things", "g.org")}, Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Delete && (r.Resource.Resource == "configmaps" || r.Resource.Resource == "things") {
				return ask(r.Name)
			}
			return nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i := range objects {
		finalizers := ""
		if finalizer != "" {
			finalizers = fmt.Sprintf(`,"finalizers":[%q]`, finalizer)
		}
		body, err := value.Parse(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"o%d"%s}}`, h.apiVersion, h.kind, i, finalizers))
		if err == nil {
			err = s.client.Send(t.Context(), http.MethodPost, h.objects, body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// await waits until something is so. It gives up after far more time than that takes: the machine may be busy.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("the test waited in vain for %s", what)
		}
	}
}

// delete deletes the holder.
func (h holder) delete(t *testing.T, s *Server) {
	t.Helper()
	if err := s.client.Send(t.Context(), http.MethodDelete, h.path, value.Value{}); err != nil {
		t.Fatal(err)
	}
}

// waitUntilGone waits until the holder is gone.
func (h holder) waitUntilGone(t *testing.T, s *Server) {
	t.Helper()
	await(t, h.path+" to be gone", func() bool { return s.client.Send(t.Context(), http.MethodGet, h.path, value.Value{}) != nil })
}

// TestHeldObjects deletes what holds objects: each is deleted once.
func TestHeldObjects(t *testing.T) {
	for _, h := range holders {
		const objects = 300
		var asked atomic.Int64
		s := h.fill(t, objects, "", func(string) error { asked.Add(1); return nil })
		h.delete(t, s)
		h.waitUntilGone(t, s)
		want := int64(0)
		if h.asks {
			want = objects
		}
		if n := asked.Load(); n != want {
			t.Errorf("%s: of the deletion of %d objects, admission is asked %d times", h.path, objects, n)
		}
	}
}

// TestHeldByFinalizers takes the finalizers of held objects away, one after the other: when the last one is gone they are looked at again,
// and not before.
func TestHeldByFinalizers(t *testing.T) {
	for _, h := range holders {
		const objects = 100
		var asked atomic.Int64
		s := h.fill(t, objects, "example.org/wait", func(string) error { asked.Add(1); return nil })
		h.delete(t, s)
		await(t, "each object to be deleted", func() bool { return !h.asks || asked.Load() >= objects })
		for i := range objects {
			if i == objects/2 && s.client.Send(t.Context(), http.MethodGet, h.path, value.Value{}) != nil {
				t.Errorf("%s is gone before its objects", h.path)
			}
			patch := value.Object(value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "finalizers", Value: value.Null()})})
			await(t, "an object to be patched, which the sweep may still be at", func() bool {
				return s.client.Send(t.Context(), http.MethodPatch, fmt.Sprintf("%s/o%d", h.objects, i), patch) == nil
			})
		}
		h.waitUntilGone(t, s)
		if n := asked.Load(); n > 2*objects {
			t.Errorf("%s: %d objects are deleted by %d requests", h.path, objects, n)
		}
	}
}

// TestRefusedDeletion refuses the deletion of one object at first: the others go at once, and it goes later.
func TestRefusedDeletion(t *testing.T) {
	for _, h := range holders {
		var refused atomic.Bool
		s := h.fill(t, 3, "", func(name string) error {
			if name == "o1" && !refused.Swap(true) {
				return errors.New("not yet")
			}
			return nil
		})
		h.delete(t, s)
		await(t, h.path+" to lose all but the object whose deletion was refused", func() bool {
			return s.client.Send(t.Context(), http.MethodGet, h.objects+"/o2", value.Value{}) != nil
		})
		h.waitUntilGone(t, s)
	}
}
