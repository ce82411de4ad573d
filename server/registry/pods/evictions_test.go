package pods_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// contested is a store in which the next write to a key with a prefix comes too late: store.Store.
type contested struct {
	store.Store
	late string // the prefix; empty if no write comes too late
}

// conflict reports whether a write to a key comes too late. The next one does not.
func (s *contested) conflict(key string) bool {
	late := s.late != "" && strings.HasPrefix(key, s.late)
	if late {
		s.late = ""
	}
	return late
}

// Put stores nothing if it comes too late.
func (s *contested) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	if s.conflict(key) {
		return 0, store.ErrConflict
	}
	return s.Store.Put(ctx, key, text, expect)
}

// Delete deletes nothing if it comes too late.
func (s *contested) Delete(ctx context.Context, key string, expect store.Revision) (store.Revision, error) {
	if s.conflict(key) {
		return 0, store.ErrConflict
	}
	return s.Store.Delete(ctx, key, expect)
}

// TestLateWrites lets the first write of each request come too late: it is tried again, and the client does not learn of it.
func TestLateWrites(t *testing.T) {
	objects := &contested{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	const maps = servertest.Core + "namespaces/default/configmaps"
	for _, c := range []struct{ request, body string }{
		{"PUT " + maps + "/a" + servertest.JSON, `{"metadata":{"name":"a"},"data":{"a":"2"}}`},
		{"PATCH " + maps + "/a" + servertest.MergePatch, `{"data":{"a":"3"}}`},
		{"PATCH " + maps + "/a?fieldManager=m&force=true" + servertest.ApplyPatch, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"4"}}`},
		{"DELETE " + maps + "/a?propagationPolicy=Orphan", ""},
		{"PATCH " + maps + "/a" + servertest.MergePatch, `{"metadata":{"finalizers":null}}`},
		{"DELETE " + maps + "/b", ""},
		{"DELETE " + maps, ""},
	} {
		for _, name := range []string{"a", "b"} {
			servertest.Ask(s, "POST "+maps+servertest.JSON, `{"metadata":{"name":"`+name+`"}}`)
		}
		objects.late = "/registry/configmaps/"
		if w := servertest.Ask(s, c.request, c.body); w.Code != http.StatusOK || objects.late != "" {
			t.Errorf("%s: %d %s", c.request, w.Code, w.Body)
		}
	}
}

// TestEvictionOfAVersion evicts a pod that is still as the client saw it. The pod changes when it says that it was evicted, which is
// not held against the client; its budget is asked once, however often the pod must be written. To evict it again stores nothing.
func TestEvictionOfAVersion(t *testing.T) {
	objects := &contested{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	const (
		pods    = servertest.Core + "namespaces/default/pods"
		budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	)
	expect := func(request, body string, code int) value.Value {
		t.Helper()
		w := servertest.Ask(s, request, body)
		if w.Code != code {
			t.Fatalf("%s: %d %s, want %d", request, w.Code, w.Body, code)
		}
		return servertest.Parsed(t, w)
	}
	expect("POST "+pods+servertest.JSON, `{"metadata":{"name":"a","labels":{"a":"b"}},
		"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`, http.StatusCreated)
	expect("POST "+budgets+servertest.JSON, `{"metadata":{"name":"a"},"spec":{"selector":{}}}`, http.StatusCreated)
	expect("PATCH "+budgets+"/a/status"+servertest.MergePatch, `{"status":{"observedGeneration":1,"disruptionsAllowed":2}}`, http.StatusOK)
	pod := expect("PATCH "+pods+"/a/status"+servertest.MergePatch, `{"status":{"phase":"Running"}}`, http.StatusOK)
	objects.late = "/registry/pods/"
	expect("POST "+pods+"/a/eviction"+servertest.JSON, `{"metadata":{"name":"a"},"deleteOptions":{"preconditions":{"resourceVersion":`+
		pod.Get("metadata", "resourceVersion").String()+`}}}`, http.StatusCreated)
	ending := expect("GET "+pods+"/a", "", http.StatusOK)
	if objects.late != "" || ending.Get("metadata", "deletionTimestamp").IsAbsent() || ending.Get("status", "conditions").Len() != 1 {
		t.Errorf("it is not evicted: %v", ending)
	}
	if left := expect("GET "+budgets+"/a", "", http.StatusOK).Get("status", "disruptionsAllowed").Int(); left != 1 {
		t.Errorf("%d of 2 disruptions are left", left)
	}
	expect("POST "+pods+"/a/eviction"+servertest.JSON, `{"metadata":{"name":"a"}}`, http.StatusCreated)
	if again := expect("GET "+pods+"/a", "", http.StatusOK); !again.Equal(ending) {
		t.Errorf("%v became %v", ending, again)
	}
}

// TestManyDisruptions evicts a pod whose budget knows of as many that were evicted and are not gone as it may, and of one more.
func TestManyDisruptions(t *testing.T) {
	s := servertest.Widgets(t)
	const (
		pods    = servertest.Core + "namespaces/default/pods"
		budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	)
	servertest.Ask(s, "POST "+budgets+servertest.JSON, `{"metadata":{"name":"a"},"spec":{"selector":{}}}`)
	var gone strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&gone, `"p%d":"2026-01-01T00:00:00Z"`, i)
		if gone.WriteByte(','); i < 1999 {
			continue
		}
		body := `{"status":{"observedGeneration":1,"disruptionsAllowed":5,"disruptedPods":{` + strings.TrimSuffix(gone.String(), ",") + `}}}`
		if w := servertest.Ask(s, "PATCH "+budgets+"/a/status"+servertest.MergePatch, body); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		name := fmt.Sprint("p", i)
		servertest.Ask(s, "POST "+pods+servertest.JSON, `{"metadata":{"name":"`+name+`"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
		servertest.Ask(s, "PATCH "+pods+"/"+name+"/status"+servertest.MergePatch, `{"status":{"phase":"Running"}}`)
		want := http.StatusCreated
		if i == 2000 {
			want = http.StatusForbidden
		}
		if w := servertest.Ask(s, "POST "+pods+"/"+name+"/eviction"+servertest.JSON, `{"metadata":{"name":"`+name+`"}}`); w.Code != want {
			t.Errorf("with %d pods: %d %s, want %d", i+1, w.Code, w.Body, want)
		}
	}
}
