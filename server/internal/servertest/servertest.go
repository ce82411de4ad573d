// Package servertest provides servers, requests and webhooks for the tests of packages of the server.
//
// A test uses a whole server if the effect that it looks for is in answers only. Such a test is in the external test package of the package
// that it is about, because package server imports that package.
package servertest

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Start returns a server with configuration c. It logs nothing unless c has a log, and gives requests an hour unless c limits them. The
// server is closed at the end of the test.
func Start(t testing.TB, c server.Config) *server.Server {
	t.Helper()
	c.Limits = Unhurried(c.Limits)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// New is Start of a server that serves widgets.example.org.
func New(t testing.TB, c server.Config) *server.Server {
	t.Helper()
	c.Objects = WidgetDefinitions(t)
	return Start(t, c)
}

// Widgets returns a server that serves widgets.example.org.
func Widgets(t testing.TB) *server.Server {
	t.Helper()
	return New(t, server.Config{})
}

// On returns a server of the objects in a store. Its clock always shows [Noon].
func On(t testing.TB, objects store.Store, definitions ...value.Value) *server.Server {
	t.Helper()
	return Start(t, server.Config{Store: objects, Objects: definitions, Now: func() time.Time { return Noon }})
}

// Noon is the time of a server of [On].
var Noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Stage returns a server with a few objects, in a store that is closed with it: the widgets web, held and going, where going is being
// deleted, a ConfigMap, a Deployment and the namespace shop.
func Stage(t testing.TB, objects store.Store) *server.Server {
	t.Helper()
	t.Cleanup(func() { // after the server was closed
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
	s := Start(t, server.Config{Store: objects, Objects: WidgetDefinitions(t)})
	held := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q,"finalizers":["example.org/hold"]}}`
	for _, c := range []struct{ request, body string }{
		{"POST " + Things, Web},
		{"POST " + Things, fmt.Sprintf(held, "held")},
		{"POST " + Things, fmt.Sprintf(held, "going")},
		{"DELETE " + Things + "/going", ""},
		{"POST " + Core + "namespaces/default/configmaps", `{"metadata":{"name":"settings"},"data":{"a":"1"}}`},
		{"POST /apis/apps/v1/namespaces/default/deployments", Deployment},
		{"POST " + Core + "namespaces", `{"metadata":{"name":"shop"}}`},
	} {
		if w := Ask(s, c.request, c.body); w.Code >= 300 {
			t.Fatalf("%s: %d %s", c.request, w.Code, w.Body)
		}
	}
	return s
}

// WidgetDefinitions returns the definition of widgets.
func WidgetDefinitions(t testing.TB) []value.Value {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "apitest/testdata/widgets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := manifest.Parse("widgets.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Values(definitions)
}

// moduleRoot returns the directory of go.mod: the working directory of a test is the directory of its package.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no directory above this test has a go.mod")
		}
		dir = filepath.Dir(dir)
	}
}

// Unhurried returns limits that give requests an hour, unless l says how long they may take: the machine may be busy.
func Unhurried(l filters.Limits) filters.Limits {
	for _, limit := range []*time.Duration{&l.Request, &l.Write} {
		if *limit == 0 {
			*limit = time.Hour
		}
	}
	return l
}

// Named authenticates by the header X-User; root is a member of system:masters.
func Named(r *http.Request) (auth.User, error) {
	u := auth.User{Name: r.Header.Get("X-User"), Groups: []string{"system:authenticated"}}
	if u.Name == "root" {
		u.Groups = append(u.Groups, "system:masters")
	}
	return u, nil
}
