package watch_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestHistories lets writers change objects at random while watchers follow them, disconnect at random, and resume from where they were.
// In the end what each watcher has been told makes up what is stored, and no event came twice or was missed.
func TestHistories(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return memory.New() },
		"file": func(t *testing.T) store.Store {
			s, err := file.Open(filepath.Join(t.TempDir(), "data"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watchers, writes := 50, 400
			if testing.Short() {
				watchers, writes = 10, 60
			}
			watchedHistory(t, open(t), watchers, writes)
		})
	}
}

func watchedHistory(t *testing.T, objects store.Store, watchers, writes int) {
	t.Helper()
	s := servertest.Stage(t, objects)
	server := httptest.NewServer(s)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	begun := servertest.List(t, s, "").Metadata.ResourceVersion
	var writing, watching sync.WaitGroup
	seed := seeds.First(t)
	for i := range 4 {
		writing.Go(func() { servertest.RandomWrites(t, s, seeds.Stream(seed, i), writes) })
	}
	end := make(chan struct{})
	for i := range watchers {
		w := &follower{url: server.URL + servertest.Things, at: begun, states: map[string]string{}, random: seeds.Stream(seed, 4+i)}
		watching.Go(func() { w.follow(ctx, t, s, end) })
	}
	writing.Wait()
	close(end)
	watching.Wait()
}

// TestFirstEventsOfSelected begins watches of a server that has read nothing yet. They are told of the objects that their selectors are about,
// and of no others.
func TestFirstEventsOfSelected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		writer := servertest.On(t, objects, servertest.WidgetDefinitions(t)...)
		for _, name := range []string{"a", "b"} {
			body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%[1]q,"labels":{"is":%[1]q}}}`, name)
			if w := servertest.Ask(writer, "POST "+servertest.Things+servertest.JSON, body); w.Code != http.StatusCreated {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		for query, want := range map[string]string{
			"labelSelector=is%3Db": "b", "labelSelector=is!%3Db": "a", "labelSelector=is": "ab", "labelSelector=other": "",
			"fieldSelector=metadata.name%3Da": "a", "fieldSelector=metadata.name!%3Da": "b",
		} {
			told, got := servertest.Ask(servertest.On(t, objects), "GET "+servertest.Things+"?watch=1&timeoutSeconds=1&"+query, "").Body.String(), ""
			for line := range strings.Lines(told) {
				event, err := value.Parse([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				got += event.Get("object", "metadata", "name").Str()
			}
			if got != want {
				t.Errorf("%s: %q is told of, want %q", query, got, want)
			}
		}
	})
}

// TestToldTexts compares, to the byte, what watches are told in the texts that were written with what others are told, which select
// everything by a label: for them objects are read and printed.
func TestToldTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := memory.New()
		defer objects.Close()
		s := servertest.Stage(t, objects)
		defer s.Close()
		const deployments = "/apis/apps/v1/namespaces/default/deployments"
		from := servertest.List(t, s, "").Metadata.ResourceVersion
		random := seeds.Rand(t)
		servertest.RandomWrites(t, s, random, 100)
		for i := range 20 {
			body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d%d"},"spec":{"replicas":%d,"selector":`+
				`{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
				i%4, i%3)
			servertest.Ask(s, fmt.Sprintf("PATCH %s/d%d?fieldManager=m%d&force=true%s", deployments, i%4, i%2, servertest.ApplyPatch), body)
			noted := `{"metadata":{"annotations":{"é":"<&>"}}}`
			servertest.Ask(s, fmt.Sprintf("PATCH %s/d%d Content-Type=application/merge-patch+json", deployments, i%4), noted)
		}
		for path, least := range map[string]int{servertest.Things: 30, deployments: 5, "/apis/apps/v1/deployments": 5} {
			told := servertest.Ask(s, "GET "+path+"?watch=1&timeoutSeconds=1&resourceVersion="+from, "").Body.String()
			want := servertest.Ask(s, "GET "+path+"?watch=1&timeoutSeconds=1&labelSelector=!none&resourceVersion="+from, "").Body.String()
			if n := strings.Count(want, "\n"); told != want || n < least {
				t.Errorf("a watch of %s is told of %d events\n%s\nwant\n%s", path, n, told, want)
			}
		}
	})
}

// follower is a client that follows the objects with the label l=1.
type follower struct {
	url, at string
	states  map[string]string // by name: the object as it was last told
	random  *rand.Rand
}

// follow watches, with pauses, until the writers ended and it has been told of everything.
func (f *follower) follow(ctx context.Context, t *testing.T, s http.Handler, end <-chan struct{}) {
	for {
		ended := false
		select {
		case <-end:
			ended = true
		default:
		}
		latest := ""
		if ended {
			latest = selectedVersion(t, s)
		}
		if done := f.watch(ctx, t, latest); done {
			break
		}
		if ctx.Err() != nil {
			t.Errorf("a watcher is still at %s", f.at)
			return
		}
	}
	want := map[string]string{}
	for item := range servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.Things+"?labelSelector=l%3D1", "")).Get("items").Items() {
		want[item.Get("metadata", "name").Str()] = item.String()
	}
	if !maps.Equal(f.states, want) {
		t.Errorf("a watcher ended with\n%v\nwant\n%v", f.states, want)
	}
}

// selectedVersion returns the resource version of a write that every watcher is told of, which it makes: one more object.
func selectedVersion(t *testing.T, s http.Handler) string {
	w := servertest.Ask(s, "POST "+servertest.Things, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"last","labels":{"l":"1"}}}`)
	if w.Code == http.StatusConflict {
		w = servertest.Ask(s, "GET "+servertest.Things+"/last", "")
	}
	return servertest.Parsed(t, w).Get("metadata", "resourceVersion").Str()
}

// watch watches once, from where it is, up to some events or, if until is a version, up to that.
func (f *follower) watch(ctx context.Context, t *testing.T, until string) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"?watch=true&timeoutSeconds=1&labelSelector=l%3D1&resourceVersion="+f.at, nil)
	if err != nil {
		t.Error(err)
		return true
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	lines.Buffer(nil, 1<<20)
	for left := 1 + f.random.IntN(20); (until != "" || left > 0) && lines.Scan(); left-- {
		if ctx.Err() != nil {
			return false // the line may be cut off
		}
		if !f.told(t, lines.Bytes()) {
			return true
		}
		if f.at == until {
			return true
		}
	}
	return until != "" && f.at == until
}

// told takes over an event. It must be of an object that it fits to, and newer than the last.
func (f *follower) told(t *testing.T, line []byte) bool {
	var event struct {
		Type   string
		Object json.RawMessage
	}
	err := json.Unmarshal(line, &event)
	object, parseErr := value.Parse(event.Object)
	if err != nil || parseErr != nil || event.Type == "ERROR" {
		t.Errorf("%s: %v %v", line, err, parseErr)
		return false
	}
	name, version := object.Get("metadata", "name").Str(), object.Get("metadata", "resourceVersion").Str()
	_, had := f.states[name]
	if had == (event.Type == "ADDED") || servertest.Newer(f.at, version) != version || version == f.at {
		t.Errorf("after %s, with the object there: %v: %s of %s at %s", f.at, had, event.Type, name, version)
		return false
	}
	f.at = version
	if event.Type == "DELETED" {
		delete(f.states, name)
	} else {
		f.states[name] = object.String()
	}
	return true
}

// TestLongWatches watches over a connection of HTTP/1.1, of a listener that gives each request its time, for longer than that.
func TestLongWatches(t *testing.T) {
	limits := filters.Limits{Request: time.Second}
	s := servertest.New(t, server.Config{Limits: limits})
	certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	serving.Go(func() {
		if err := s.Serve(ctx, l, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}); err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	watch, err := client.Get("https://" + l.Addr().String() + servertest.Things + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	time.Sleep(2*limits.Request + 100*time.Millisecond)
	if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if line, err := bufio.NewReader(watch.Body).ReadString('\n'); !strings.HasPrefix(line, `{"type":"ADDED"`) {
		t.Errorf("the watch is told %q, %v", line, err)
	}
}
