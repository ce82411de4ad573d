package auth_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/auth"
)

// as returns a context of requests of a user.
func as(u auth.User) context.Context {
	return context.WithValue(context.Background(), auth.ContextKey{}, &u)
}

// TestReadTokens reads the file format of kube-apiserver, and names the record that is not in it.
func TestReadTokens(t *testing.T) {
	tokens, err := auth.ReadTokens(strings.NewReader("# a comment\n t1, jane,1,\"a,b\"\nt2,joe,2\nt3,sue,3,\nt4,tom,4,\"c,system:authenticated\"\nt5,system:anonymous,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"t1": "{jane 1 [a b system:authenticated] map[]}",
		"t2": "{joe 2 [system:authenticated] map[]}",
		"t3": "{sue 3 [ system:authenticated] map[]}", // the empty group
		"t4": "{tom 4 [c system:authenticated] map[]}",
		"t5": "{system:anonymous 5 [] map[]}",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if u, err := tokens.Authenticate(r); err != nil || fmt.Sprint(u) != want {
			t.Errorf("%s is of %v (error %v), want %s", token, u, err, want)
		}
	}
	for text, want := range map[string]string{
		"t,jane,1\nt,jane": "record 2: a token needs token, user and uid",
		",jane,1":          "record 1: a token needs token, user and uid",
		"t,,1":             "record 1: a token needs token, user and uid",
		"t,\"jane,1":       "parse error",
	} {
		if _, err := auth.ReadTokens(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read with the error %v, want %s", text, err, want)
		}
	}
}

// TestNewToken makes tokens of 192 bits, each of its own.
func TestNewToken(t *testing.T) {
	if a, b := auth.NewToken(), auth.NewToken(); len(a) != 48 || a == b {
		t.Errorf("tokens are %s and %s", a, b)
	}
}

// TestCredentials sends requests with each kind of credentials.
func TestCredentials(t *testing.T) {
	var tokens auth.Tokens
	groups := make([]string, 1, 2)
	groups[0] = "devs"
	tokens.Add("t1", auth.User{Name: "jane", Groups: groups})
	tokens.Add("t2", auth.User{Name: "joe", Groups: groups})
	socket := func(token string) string {
		return "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(token)) + ", v5.channel.k8s.io"
	}
	certified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{
		{Subject: pkix.Name{CommonName: "node", Organization: []string{"nodes"}}}, {Subject: pkix.Name{CommonName: "root"}},
	}}}
	for _, c := range []struct {
		authorization, protocol string
		tls                     *tls.ConnectionState
		want                    string
	}{
		{"Bearer t1", "", nil, "{jane  [devs system:authenticated] map[]}"},
		{"bearer t2 ", "", &tls.ConnectionState{}, "{joe  [devs system:authenticated] map[]}"},
		{"Bearer t1 t", "", nil, "{jane  [devs system:authenticated] map[]}"},
		{"Bearer t", "", nil, "the bearer token is not known"},
		{"Bearer  t1", "", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"Bearer ", "", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"Bearer", "", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"Basic t1", "", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"", "", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"", "v5.channel.k8s.io", nil, "{system:anonymous  [system:unauthenticated] map[]}"},
		{"", socket("t1"), nil, "{jane  [devs system:authenticated] map[]}"},
		{"", socket("t"), nil, "the bearer token is not known"},
		{"Bearer t", socket("t"), certified, "{node  [nodes system:authenticated] map[]}"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.TLS = c.tls
		r.Header.Set("Authorization", c.authorization)
		if c.protocol != "" {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Sec-WebSocket-Protocol", c.protocol)
		}
		u, err := tokens.Authenticate(r)
		got := fmt.Sprint(u)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.authorization, c.protocol, got, c.want)
		}
		if c.protocol == socket("t1") && r.Header.Get("Sec-WebSocket-Protocol") != "v5.channel.k8s.io" {
			t.Errorf("the subprotocols are %q, which still have the token", r.Header["Sec-Websocket-Protocol"])
		}
	}
	all := &auth.Access{}
	if u, err := all.Authenticate(httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || u.Name != auth.System.Name {
		t.Errorf("without an authenticator, the user is %v (error %v)", u, err)
	}
	some := &auth.Access{Authenticator: tokens.Authenticate}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer t")
	if u, err := auth.RefuseAnonymous(func(*http.Request) (auth.User, error) {
		return auth.User{Name: auth.Anonymous.Name, Groups: []string{"x"}}, nil
	})(r); err != nil {
		t.Errorf("the user with credentials %v is refused: %v", u, err)
	}
	if _, err := some.Authenticate(r); err != auth.ErrUnauthorized {
		t.Errorf("an unknown token is refused with %v", err)
	}
}

// TestPolicy compares actions with rules, one rule at a time.
func TestPolicy(t *testing.T) {
	jane := auth.User{Name: "jane", Groups: []string{"devs", "system:authenticated"}}
	pods := auth.Action{Verb: "get", Version: "v1", Resource: "pods", Namespace: "a", Name: "x"}
	scale := auth.Action{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "a"}
	nodes := auth.Action{Verb: "list", Resource: "nodes"}
	healthz := auth.Action{Verb: "get", Path: "/healthz"}
	for _, c := range []struct {
		rule string
		a    auth.Action
		want bool
	}{
		{"jane get pods a", pods, true},
		{"# jane get pods a", pods, false},
		{"group:devs * * *", pods, true},
		{"* get pods *", pods, true},
		{"group:jane get pods a", pods, false},
		{"devs get pods a", pods, false},
		{"jane list pods a", pods, false},
		{"jane get pods b", pods, false},
		{"jane get pods -", pods, false},
		{"jane get pods/status a", pods, false},
		{"jane update deployments.apps/scale a", scale, true},
		{"jane update deployments.apps a", scale, false},
		{"jane update deployments/scale a", scale, false},
		{"jane list nodes -", nodes, true},
		{"jane list nodes a", nodes, false},
		{"jane get /healthz -", healthz, true},
		{"jane get /livez -", healthz, false},
	} {
		p, err := auth.ReadPolicy(strings.NewReader("\n  " + c.rule + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got, reason := p.Authorize(t.Context(), jane, c.a); got != c.want || reason != "" {
			t.Errorf("%s: %+v is allowed: %v, want %v (reason %q)", c.rule, c.a, got, c.want, reason)
		}
	}
	for text, want := range map[string]string{
		"jane get pods a\n\njane get pods": `line 3: want user, verb, resource and namespace, got "jane get pods"`,
		"a b c d e":                        `line 1: want user, verb, resource and namespace, got "a b c d e"`,
	} {
		if _, err := auth.ReadPolicy(strings.NewReader(text)); fmt.Sprint(err) != want {
			t.Errorf("%q is read with the error %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"jane * * *\n* get * a\n* get pods *":   "",
		"jane * * *\n*  get\t* *\n* * * *":      "* get * *",
		"system:anonymous list * *":             "system:anonymous list * *",
		"group:system:unauthenticated list * *": "group:system:unauthenticated list * *",
		"group:system:authenticated list * *":   "",
	} {
		p, err := auth.ReadPolicy(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AllowsAnonymous(); got != want {
			t.Errorf("%q allows clients without credentials %q, want %q", text, got, want)
		}
	}
}

// TestAuthorize refuses actions in the words of kube-apiserver.
func TestAuthorize(t *testing.T) {
	var reason string
	access := &auth.Access{Authorizer: func(context.Context, auth.User, auth.Action) (bool, string) { return false, reason }}
	for _, c := range []struct {
		a            auth.Action
		reason, want string
	}{
		{auth.Action{Verb: "get", Path: "/metrics"}, "", `forbidden: User "jane" cannot get path "/metrics"`},
		{auth.Action{Verb: "get", Resource: "pods", Namespace: "a", Name: "x"}, "",
			`pods "x" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "a"`},
		{auth.Action{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale", Name: "x"}, "no rule",
			`deployments.apps "x" is forbidden: User "jane" cannot patch resource "deployments/scale" in API group "apps" at the cluster scope: no rule`},
	} {
		reason = c.reason
		if _, err := access.Authorize(as(auth.User{Name: "jane"}), c.a); fmt.Sprint(err) != c.want {
			t.Errorf("%+v is refused with %v, want %s", c.a, err, c.want)
		}
	}
	if _, err := access.Authorize(as(auth.System), auth.Action{Verb: "get", Path: "/"}); err != nil {
		t.Errorf("a member of system:masters is refused: %v", err)
	}
	if _, err := (&auth.Access{}).Authorize(as(auth.Anonymous), auth.Action{}); err != nil {
		t.Errorf("without an authorizer: %v", err)
	}
	if u := auth.UserOf(t.Context()); u.Name != "" {
		t.Errorf("outside of a request, the user is %v", u)
	}
}

// TestDenyAnonymous lets users without credentials read health checks and the version only.
func TestDenyAnonymous(t *testing.T) {
	for _, c := range []struct {
		u    auth.User
		a    auth.Action
		want bool
	}{
		{auth.User{Name: "jane", Groups: []string{"system:authenticated"}}, auth.Action{Verb: "delete", Resource: "pods"}, true},
		{auth.Anonymous, auth.Action{Verb: "get", Path: "/healthz"}, true},
		{auth.Anonymous, auth.Action{Verb: "get", Path: "/livez/ping"}, true},
		{auth.Anonymous, auth.Action{Verb: "get", Path: "/version"}, true},
		{auth.Anonymous, auth.Action{Verb: "post", Path: "/version"}, false},
		{auth.Anonymous, auth.Action{Verb: "get", Path: "/versions"}, false},
		{auth.Anonymous, auth.Action{Verb: "get", Path: "/api"}, false},
		{auth.Anonymous, auth.Action{Verb: "get", Resource: "pods"}, false},
	} {
		if got, _ := auth.DenyAnonymous(t.Context(), c.u, c.a); got != c.want {
			t.Errorf("%s may do %+v: %v, want %v", c.u.Name, c.a, got, c.want)
		}
	}
}

// TestCheckOrigin sends requests as web pages of this and of other sites do, and as other clients do.
func TestCheckOrigin(t *testing.T) {
	jane := auth.User{Name: "jane"}
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
	for _, c := range []struct {
		name               string
		u                  auth.User
		method, path, host string
		origin, site       string
		tls                *tls.ConnectionState
		want               string // a part of the error; "" for none
	}{
		{name: "localhost", host: "LocalHost:8080"},
		{name: "an address", host: "127.0.0.1:8080"},
		{name: "an address of IPv6", host: "[::1]:8080"},
		{name: "an address of IPv6 without a port", host: "[::1]"},
		{name: "no host", host: ""},
		{name: "a name of the server", host: "API.example.org:8080"},
		{name: "another name", host: "evil.example", want: `Host "evil.example" is neither an address nor a name of this server`},
		{name: "another name, with TLS", host: "evil.example", tls: &tls.ConnectionState{}},
		{name: "a token", u: jane, host: "evil.example", origin: "http://evil.example", site: "cross-site"},
		{name: "a certificate", u: jane, host: "localhost", origin: "https://evil.example", tls: verified, want: `Origin "https://evil.example" is another site`},
		{name: "a health check", path: "/healthz/ping", host: "evil.example"},
		{name: "a health check that is written to", method: "POST", path: "/healthz", host: "evil.example", want: "Host"},
		{name: "the origin of the server", host: "localhost:8080", origin: "http://LOCALHOST:8080", site: "same-origin"},
		{name: "another port", host: "localhost:8080", origin: "http://localhost:3000", want: "Origin"},
		{name: "a page of a file", host: "localhost", origin: "null", want: `Origin "null"`},
		{name: "another site, without origin", host: "localhost", site: "cross-site", want: `Sec-Fetch-Site is "cross-site"`},
		{name: "the same site", host: "localhost", site: "same-site", want: "Sec-Fetch-Site"},
		{name: "the address line", host: "localhost", site: "none"},
	} {
		access := &auth.Access{Authenticator: (&auth.Tokens{}).Authenticate, Hosts: []string{"api.example.org"}}
		if c.u.Name == "" {
			c.u = auth.Anonymous
		}
		r := httptest.NewRequest(http.MethodGet, "/"+strings.TrimPrefix(c.path, "/"), nil)
		if c.method != "" {
			r.Method = c.method
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{})))
		r.Host, r.TLS = c.host, c.tls
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Sec-Fetch-Site", c.site)
		err := access.CheckOrigin(r, c.u)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	if r.Host = "evil.example"; (&auth.Access{}).CheckOrigin(r, auth.System) != nil {
		t.Error("a request that came over no network is refused for its Host")
	}
}

// TestAdviseOnToken reads headers with a space before the token, which then does not count.
func TestAdviseOnToken(t *testing.T) {
	for _, c := range []struct {
		authorization string
		user          auth.User
		isWarned      bool
	}{
		{"Bearer  t", auth.Anonymous, true},
		{"bearer   t", auth.User{}, true}, // is refused
		{"Bearer  t", auth.System, false}, // has other credentials
		{"Bearer t", auth.Anonymous, false},
		{"Bearer  ", auth.Anonymous, false},
		{"Basic  t", auth.Anonymous, false},
		{"", auth.Anonymous, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", c.authorization)
		if text := auth.AdviseOnToken(r, c.user); (text != "") != c.isWarned {
			t.Errorf("%q of %q: %q", c.authorization, c.user.Name, text)
		}
	}
}
