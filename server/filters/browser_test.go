package filters_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

//go:embed testdata/browser/page.html
var foreignPage []byte

// TestBrowser opens web pages of other sites in Chromium. Without a token they try to read and watch a Secret, and to create objects.
// The server refuses each request that arrives, and nothing is created. It needs the program chromium, and is skipped without.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no program called chromium here, which shows the pages")
	}
	const canary = "Y2FuYXJ5"
	for _, c := range []struct {
		name, host string
		rebinds    bool // whether the name of the site leads to the server, once the page is there
	}{
		{"another port", "127.0.0.1", false},
		{"another name", "evil.example", false},
		{"a name that leads to the server later", "evil.example", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := servertest.New(t, server.Config{})
			if w := servertest.Ask(s, "POST /api/v1/namespaces/default/secrets", `{"metadata":{"name":"one"},"data":{"password":"`+canary+`"}}`); w.Code != http.StatusCreated {
				t.Fatalf("the Secret: %d %s", w.Code, w.Body)
			}
			seen := &answers{Handler: s}
			port := httptest.NewServer(seen)
			defer port.Close()
			site := newSite(t, port.URL, c.rebinds)
			_, sitePort, _ := strings.Cut(strings.TrimPrefix(site.URL, "http://"), ":")
			target := port.URL
			if c.rebinds {
				target = "http://" + c.host + ":" + sitePort
			}
			got := site.visit(t, chromium, "http://"+c.host+":"+sitePort+"/page?target="+url.QueryEscape(target))
			t.Logf("the page got %v; the server answered %q", got, seen.all())
			if len(got) != 7 {
				t.Errorf("the page tried %d things, want 7", len(got))
			}
			for attempt, text := range got {
				if strings.Contains(text, canary) {
					t.Errorf("%s: the page reads %s", attempt, text)
				}
			}
			if len(seen.all()) < 5 {
				t.Errorf("%d requests arrived, want 5 at least", len(seen.all()))
			}
			for _, answer := range seen.all() {
				if !strings.HasSuffix(answer, ": 403") {
					t.Errorf("not refused: %s", answer)
				}
			}
			if w := servertest.Ask(s, "GET /api/v1/namespaces/default/configmaps", ""); strings.Contains(w.Body.String(), `"by-`) {
				t.Errorf("the page created objects: %s", w.Body)
			}
		})
	}
}

// answers is a handler that remembers each request with the code of its answer.
type answers struct {
	http.Handler
	mu    sync.Mutex
	lines []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &coded{w, http.StatusOK}
	a.Handler.ServeHTTP(c, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf("%s %s: %d", r.Method, r.URL.Path, c.code))
}

func (a *answers) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

// coded is a ResponseWriter that knows the code of its answer.
type coded struct {
	http.ResponseWriter
	code int
}

func (c *coded) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap is for [http.ResponseController].
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// site is a web site with the page. It waits for what the page got.
type site struct {
	*httptest.Server
	got chan map[string]string
}

// newSite returns a site. If it rebinds, all its other paths lead to the server at target, as if its name led there.
func newSite(t *testing.T, target string, rebinds bool) *site {
	s := &site{got: make(chan map[string]string, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(foreignPage)
	})
	mux.HandleFunc("POST /done", func(_ http.ResponseWriter, r *http.Request) {
		got := map[string]string{}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		s.got <- got
	})
	if rebinds {
		to, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		// The server sees the name of the site in Host, as it would without a proxy.
		mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }})
	}
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// visit opens the page at address in a browser of its own, and returns what the page got.
func (s *site) visit(t *testing.T, chromium, address string) map[string]string {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), "--remote-debugging-port=0",
		"--host-resolver-rules=MAP evil.example 127.0.0.1", address)
	var said bytes.Buffer
	browser.Stderr = &said // which Wait reads until all processes of the browser are gone
	browser.WaitDelay = 20 * time.Second
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- browser.Wait() }()
	select {
	case got := <-s.got:
		cancel()
		<-exited
		return got
	case err := <-exited:
		t.Fatalf("the browser ended before the page was done: %v\n%s", err, said.String())
	}
	return nil
}
