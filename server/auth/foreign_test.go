package auth_test

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestForeignPages sends what a browser sends for web pages, over a network and without TLS. Only pages of the server itself get
// through without a token.
func TestForeignPages(t *testing.T) {
	tokens := &auth.Tokens{}
	tokens.Add("secret", auth.User{Name: "joe"})
	port := httptest.NewServer(servertest.New(t, server.Config{Authenticate: tokens.Authenticate, Hosts: []string{"deed.test"}}))
	defer port.Close()
	own := strings.TrimPrefix(port.URL, "http://")
	for _, c := range []struct {
		name, host, headers string
		code                int
	}{
		{"a program", own, "", 200},
		{"a program that names localhost", "localhost:6443", "", 200},
		{"a program that names an address", "[::1]:6443", "", 200},
		{"a program that names the server", "Deed.test:6443", "", 200},
		{"a name that leads to this machine", "evil.example:6443", "", 403},
		{"the same with a token", "evil.example:6443", "Authorization: Bearer secret", 200},
		{"the same with credentials that are none", "evil.example:6443", "Authorization: Basic eDp5", 403},
		{"a page of the server", own, "Origin: http://" + own + "\nSec-Fetch-Site: same-origin", 200},
		{"an address that somebody typed", own, "Sec-Fetch-Site: none", 200},
		{"a page of another site", own, "Origin: https://evil.example", 403},
		{"a page of another port", own, "Origin: http://localhost:3000", 403},
		{"a page without a site", own, "Origin: null", 403},
		{"a link on another site", own, "Sec-Fetch-Site: cross-site", 403},
		{"a page of another site with a token", own, "Origin: https://evil.example\nAuthorization: Bearer secret", 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, port.URL+"/api/v1/namespaces/default", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		for line := range strings.Lines(c.headers) {
			name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r.Header.Set(name, text)
		}
		w, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		if w.StatusCode != c.code {
			t.Errorf("%s: %d, want %d", c.name, w.StatusCode, c.code)
		}
		r.URL.Path = "/healthz"
		if w, err = http.DefaultTransport.RoundTrip(r); err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		if w.StatusCode != http.StatusOK {
			t.Errorf("%s: the health check says %d", c.name, w.StatusCode)
		}
	}
}

// TestTokensOfSockets opens websockets from a page of another site: a token in a subprotocol lets it in, and is not sent back.
func TestTokensOfSockets(t *testing.T) {
	tokens := &auth.Tokens{}
	tokens.Add("secret", auth.User{Name: "joe"})
	port := httptest.NewServer(servertest.New(t, server.Config{Authenticate: tokens.Authenticate}))
	defer port.Close()
	bearer := func(token string) string {
		return "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(token))
	}
	for _, c := range []struct {
		name      string
		protocols []string
		ok        bool
	}{
		{"no token", nil, false},
		{"a token and another protocol", []string{bearer("secret"), "watch.example.org"}, true},
		{"a token alone", []string{bearer("secret")}, false},
		{"two tokens", []string{bearer("secret"), bearer("secret"), "watch.example.org"}, false},
		{"an unknown token", []string{bearer("guess"), "watch.example.org"}, false},
	} {
		config, err := websocket.NewConfig("ws"+strings.TrimPrefix(port.URL, "http")+"/api/v1/namespaces?watch=true", "https://console.example")
		if err != nil {
			t.Fatal(err)
		}
		config.Protocol = c.protocols
		connection, err := config.DialContext(t.Context())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			if got := connection.Config().Protocol; len(got) != 1 || got[0] != "watch.example.org" {
				t.Errorf("%s: the server speaks %q", c.name, got)
			}
			connection.Close()
		}
	}
}

// TestNothingIsEnumerated asks for resources that are there and that are not, as a user who may see neither.
func TestNothingIsEnumerated(t *testing.T) {
	s := guarded(t)
	for _, path := range []string{
		"/apis/example.org/v1/namespaces/shop/widgets", "/apis/example.org/v1/namespaces/shop/gadgets", "/apis/example.org/v9/widgets/web",
		"/apis/nowhere.example/v1/things", "/api/v1/widgets", "/api/v1/namespaces/shop/pods/web/nothing", "/nothing", "/openapi/v9",
	} {
		if w := askAs(s, "GET "+path+asJoe, ""); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestWriteKubeconfig replaces a file that others can read, and a symbolic link without the file behind it.
func TestWriteKubeconfig(t *testing.T) {
	dir := t.TempDir()
	open, other, link := filepath.Join(dir, "open"), filepath.Join(dir, "other"), filepath.Join(dir, "link")
	for _, name := range []string{open, other} {
		if err := os.WriteFile(name, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{open, link, filepath.Join(dir, "new", "file")} {
		for _, merge := range []bool{false, true} {
			if err := server.WriteKubeconfig(name, server.Kubeconfig("https://127.0.0.1:1", nil, "secret"), merge); err != nil {
				t.Fatal(err)
			}
			is, err := os.Lstat(name)
			if err != nil || is.Mode() != 0o600 {
				t.Errorf("%s has mode %v, %v", name, is.Mode(), err)
			}
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "{}" {
		t.Errorf("behind the link there is %q, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".kubeconfig-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHostsOfTLS lets any host through where the certificate has told the client whom it speaks with.
func TestHostsOfTLS(t *testing.T) {
	port := httptest.NewTLSServer(servertest.New(t, server.Config{}))
	defer port.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, port.URL+"/api/v1/namespaces/default", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = net.JoinHostPort("deed.example", "6443")
	w, err := port.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	if w.StatusCode != http.StatusOK {
		t.Errorf("%d", w.StatusCode)
	}
}
