// Package interop_test lets a real API server and deed-apiserver work on one etcd by turns.
package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/oracle/record/peer"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/store/etcd"
	"github.com/deed-project/deed/value"
)

// side is one of the two servers.
type side struct {
	name   string
	client *http.Client
	url    string
}

// send sends a request and returns the answer. It fails the test if its code is another one, unless code is 0.
func (s side) send(t *testing.T, method, path, body string, code int) (value.Value, int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "interop/1")
	r.Header.Set("Content-Type", "application/json")
	switch {
	case method == http.MethodPatch && strings.Contains(path, "force"):
		r.Header.Set("Content-Type", "application/apply-patch+yaml")
	case method == http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 && w.StatusCode != code {
		t.Fatalf("%s: %s %s: %d, not %d: %s", s.name, method, path, w.StatusCode, code, text)
	}
	v, err := value.Parse(bytes.TrimSpace(text))
	if err != nil {
		return value.Value{}, w.StatusCode // no JSON, such as 404 page not found
	}
	return v, w.StatusCode
}

// until waits until a request is answered with a code.
func (s side) until(t *testing.T, path string, code int) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, got := s.send(t, http.MethodGet, path, "", 0)
		if got == code {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%s: %s: %d, and not %d", s.name, path, got, code)
		}
	}
}

func sides(t *testing.T) (there, here side) {
	real, err := peer.Start(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(real.Stop)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	objects, err := etcd.Open(ctx, etcd.Config{Endpoints: []string{real.Etcd}, Keys: etcd.Registry(peer.Prefix), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Store: objects, Shared: true, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		t.Fatal(err)
	}
	port := httptest.NewServer(s)
	t.Cleanup(func() {
		port.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
	return side{"there", real.Client, real.Base}, side{"here", http.DefaultClient, port.URL}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func definition(plural, kind string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.t.io"},"spec":{"group":"t.io",
		"scope":"Namespaced","names":{"plural":%q,"kind":%q},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"},
		"size":{"type":"string","default":"small"},"items":{"type":"array","items":{"type":"string"}}}},"status":{"type":"object",
		"x-kubernetes-preserve-unknown-fields":true}}}}}]}}`, plural, plural, kind)
}

// A real API server and deed-apiserver take turns with definitions and objects of one etcd: each reads what the other wrote, to the
// byte, managed fields included, conflicts with it, and watches it.
func TestTurns(t *testing.T) {
	there, here := sides(t)
	there.send(t, http.MethodPost, definitions, definition("things", "Thing"), 201)
	here.send(t, http.MethodPost, definitions, definition("parts", "Part"), 201)
	for _, plural := range []string{"things", "parts"} {
		collection := "/apis/t.io/v1/namespaces/default/" + plural
		there.until(t, collection, 200)
		here.until(t, collection, 200)
	}
	both := func(path string) value.Value {
		t.Helper()
		one, _ := there.send(t, http.MethodGet, path, "", 200)
		two, _ := here.send(t, http.MethodGet, path, "", 200)
		if one.String() != two.String() {
			t.Errorf("%s is there\n%s\nand here\n%s", path, one, two)
		}
		return one
	}
	for name, kind := range map[string]string{"things": "Thing", "parts": "Part"} {
		collection := "/apis/t.io/v1/namespaces/default/" + name
		turns := []side{there, here}
		for i := range 10 {
			one, other := turns[i%2], turns[(i+1)%2]
			path := fmt.Sprintf("%s/o%d", collection, i)
			created, _ := one.send(t, http.MethodPost, collection+"?fieldManager=creator",
				fmt.Sprintf(`{"apiVersion":"t.io/v1","kind":%q,"metadata":{"name":"o%d"},"spec":{"n":1,"items":["a","b"]}}`, kind, i), 201)
			both(path)
			applied := fmt.Sprintf(`{"apiVersion":"t.io/v1","kind":%q,"metadata":{"name":"o%d","labels":{"by":%q}},"spec":{"n":2}}`, kind, i, other.name)
			if _, code := other.send(t, http.MethodPatch, path+"?fieldManager=applier&force=false", applied, 0); code != http.StatusConflict {
				t.Errorf("%s: an apply of what the other wrote is answered with %d", other.name, code)
			}
			other.send(t, http.MethodPatch, path+"?fieldManager=applier&force=true", applied, 200)
			both(path)
			if _, code := one.send(t, http.MethodPut, path, created.String(), 0); code != http.StatusConflict {
				t.Errorf("%s: an update from an old version is answered with %d", one.name, code)
			}
			one.send(t, http.MethodPatch, path+"/status?fieldManager=status", `{"status":{"ready":true}}`, 200)
			if got := both(path); !got.Get("status", "ready").Bool() || got.Get("spec", "n").Int() != 2 || got.Get("spec", "size").Str() != "small" {
				t.Errorf("%s: after turns there is %s", path, got)
			}
		}
		both(collection)
		here.send(t, http.MethodDelete, collection+"/o0", "", 200)
		there.send(t, http.MethodDelete, collection+"/o1", "", 200)
		here.until(t, collection+"/o1", 404)
		there.until(t, collection+"/o0", 404)
	}
	watched(t, here, there)
	watched(t, there, here)
	both(definitions + "/parts.t.io")
	both(definitions + "/things.t.io")
	here.send(t, http.MethodDelete, definitions+"/things.t.io", "", 200)
	there.until(t, "/apis/t.io/v1/namespaces/default/things", 404)
	there.send(t, http.MethodDelete, definitions+"/parts.t.io", "", 200)
	here.until(t, "/apis/t.io/v1/namespaces/default/parts", 404)
}

// watched watches on one side what the other writes.
func watched(t *testing.T, watching, writing side) {
	t.Helper()
	const collection = "/apis/t.io/v1/namespaces/default/parts"
	list, _ := watching.send(t, http.MethodGet, collection, "", 200)
	name := "of-" + writing.name
	writing.send(t, http.MethodPost, collection, fmt.Sprintf(`{"apiVersion":"t.io/v1","kind":"Part","metadata":{"name":%q}}`, name), 201)
	writing.send(t, http.MethodPatch, collection+"/"+name, `{"spec":{"n":5}}`, 200)
	writing.send(t, http.MethodDelete, collection+"/"+name, "", 200)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		watching.url+collection+"?watch=true&timeoutSeconds=2&resourceVersion="+list.Get("metadata", "resourceVersion").Str(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := watching.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for line := range strings.Lines(string(text)) {
		event, err := value.Parse([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Get("type").Str())
	}
	if got := strings.Join(types, " "); got != "ADDED MODIFIED DELETED" {
		t.Errorf("%s watches what %s writes as %s", watching.name, writing.name, got)
	}
}
