package crd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

const thingsPath1, thingsPath2 = "/apis/cv.io/" + v1, "/apis/cv.io/" + v2

// thingServer is a server of Things, of which some are stored in v1.
func thingServer(t *testing.T, n int) (*server.Server, *conversionHook) {
	hook := startConversionHook(t)
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", hook.definition(`"v1"`))
	for i := range n {
		servertest.Create(t, s, thingsPath1, thing("v1", fmt.Sprintf("t%02d", i), `{"host": "h", "port": "1"}`))
	}
	hook.sent(t)
	return s, hook
}

// sent returns how many objects each call had since it was asked last, and the objects of the last.
func (h *conversionHook) sent(t *testing.T) (sizes string, last value.Value) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var n []int
	for _, call := range h.calls {
		v, err := value.Parse(call)
		if err != nil {
			t.Fatal(err)
		}
		last = v.Get("request", "objects")
		n = append(n, last.Len())
	}
	h.calls = nil
	return fmt.Sprint(n), last
}

// TestConvertedLists converts the objects of a list in one call, and none of them twice.
func TestConvertedLists(t *testing.T) {
	t.Parallel()
	s, hook := thingServer(t, 25)
	expect := func(what, want string) value.Value {
		t.Helper()
		sizes, last := hook.sent(t)
		if sizes != want {
			t.Errorf("%s: calls with %s objects, want %s", what, sizes, want)
		}
		return last
	}
	list := func(query string, n int) {
		t.Helper()
		code, v := servertest.Send(t, s, http.MethodGet, thingsPath2+query, "")
		if code != http.StatusOK || v.Get("items").Len() != n {
			t.Fatalf("%d %v, want %d items", code, v, n)
		}
		for item := range v.Get("items").Items() {
			if item.Get("spec", "address").Str() != "h:1" || item.Get("metadata", "managedFields").Len() != 1 {
				t.Errorf("%v is not as in v2", item)
			}
		}
	}
	list("?limit=5", 5)
	first := expect("a page", "[5]").Item(0)
	if first.Get("metadata", "managedFields").Len() != 1 || first.Get("apiVersion").Str() != "cv.io/v1" {
		t.Errorf("the webhook was sent %v", first)
	}
	list("", 25)
	expect("the list", "[20]")
	list("", 25)
	list("?fieldSelector=metadata.name%3Dt03", 1)
	servertest.Send(t, s, http.MethodGet, thingsPath2+"/t07", "")
	expect("the same objects", "[]")
	servertest.Send(t, s, http.MethodGet, thingsPath1, "")
	expect("the list in v1", "[]")
	servertest.Send(t, s, http.MethodPatch, thingsPath1+"/t03", `{"metadata": {"labels": {"a": "b"}}}`)
	list("?labelSelector=a%3Db", 1)
	expect("an object that changed", "[1]")

	hook.mu.Lock()
	hook.does = "refuse"
	hook.mu.Unlock()
	servertest.Send(t, s, http.MethodPatch, thingsPath1+"/t04", `{"metadata": {"labels": {"a": "b"}}}`)
	code, v := servertest.Send(t, s, http.MethodGet, thingsPath2, "")
	want := "failed to read one or more things.cv.io from the storage: StorageError: corrupt object, Code: 7, Key: /registry/cv.io/things/default/t04,"
	if code != http.StatusInternalServerError || !strings.Contains(v.Get("message").Str(), want) {
		t.Errorf("a list with an object that is not converted: %d %v, want %s", code, v, want)
	}
	if code, v := servertest.Send(t, s, http.MethodGet, thingsPath2+"/t05", ""); code != http.StatusOK {
		t.Errorf("an object that was converted before: %d %v", code, v)
	}
}

// TestConvertedWatch tells of objects as the version has them, from the first on.
func TestConvertedWatch(t *testing.T) {
	t.Parallel()
	s, _ := thingServer(t, 1)
	port := httptest.NewServer(s)
	defer port.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, port.URL+thingsPath2+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() // which ends the watch
	events := bufio.NewScanner(answer.Body)
	expect := func(want string) {
		t.Helper()
		if !events.Scan() {
			t.Fatal(events.Err())
		}
		var event struct {
			Type   string
			Object struct {
				APIVersion string
				Spec       struct{ Address string }
			}
		}
		if err := json.Unmarshal(events.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if got := event.Type + " " + event.Object.APIVersion + " " + event.Object.Spec.Address; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect("ADDED cv.io/v2 h:1")
	servertest.Create(t, s, thingsPath1, thing("v1", "u", `{"host": "u", "port": "1"}`))
	expect("ADDED cv.io/v2 u:1")
	servertest.Send(t, s, http.MethodPatch, thingsPath1+"/u", `{"spec": {"port": "2"}}`)
	expect("MODIFIED cv.io/v2 u:2")
	servertest.Send(t, s, http.MethodDelete, thingsPath1+"/u", "")
	expect("DELETED cv.io/v2 u:2")
}

// TestConvertedReviews shows an object to a webhook in the version that its rules are for.
func TestConvertedReviews(t *testing.T) {
	t.Parallel()
	s, conversion := thingServer(t, 1)
	hooks := servertest.HookServer(t, func(_ string, r map[string]any) map[string]any {
		object, _ := value.FromAny(r["object"])
		if object.Get("apiVersion").Str() != "cv.io/v2" || object.Get("spec", "address").Str() != "h:2" {
			t.Errorf("asked about %v", object)
		}
		return servertest.PatchResponse(`[{"op": "replace", "path": "/spec/address", "value": "p:3"}]`)
	})
	c := strings.NewReplacer(`[""]`, `["cv.io"]`, `["v1"], "resources": ["configmaps"]`, `["v2"], "resources": ["things"]`).Replace(
		servertest.HookConfiguration(hooks, "MutatingWebhookConfiguration", "m", ""))
	servertest.Create(t, s, servertest.MutatingPath, c)
	code, v := servertest.Send(t, s, http.MethodPatch, thingsPath1+"/t00", `{"spec": {"port": "2"}}`)
	if code != http.StatusOK || v.Get("spec", "host").Str() != "p" || v.Get("spec", "port").Str() != "3" {
		t.Errorf("%d %v", code, v)
	}
	if sizes, _ := conversion.sent(t); sizes != "[1 1 1]" { // the object and the old one there, and the patched one back
		t.Errorf("calls with %s objects", sizes)
	}
}

// TestConvertedEnd deletes a definition whose webhook is gone: nothing needs to be converted for that.
func TestConvertedEnd(t *testing.T) {
	t.Parallel()
	s, hook := thingServer(t, 3)
	hook.mu.Lock()
	hook.does = "500"
	hook.mu.Unlock()
	servertest.Send(t, s, http.MethodDelete, thingsPath, "")
	for { // it waits for its objects
		if code, _ := servertest.Send(t, s, http.MethodGet, thingsPath, ""); code == http.StatusNotFound {
			return
		}
	}
}
