package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
)

// guarded is a server with the tokens and the policy below.
func guarded(t *testing.T) *server.Server {
	t.Helper()
	tokens, err := auth.ReadTokens(strings.NewReader(strings.Join([]string{
		"# a comment", "root-token,root,1,\"system:masters\"", "joe-token,joe,2,\"dev,ops\"", "ann-token,ann,3",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := auth.ReadPolicy(strings.NewReader(`
# user       verb               resource             namespace
group:dev    get                widgets.example.org  default
joe          impersonate        users                -
joe          impersonate        groups               -
ann          *                  *                    *
joe          get                *                    kube-system
*            get                /version             *
*            create             selfsubjectreviews.authentication.k8s.io -
*            create             selfsubjectaccessreviews.authorization.k8s.io -
`))
	if err != nil {
		t.Fatal(err)
	}
	return servertest.New(t, server.Config{Authenticate: tokens.Authenticate, Authorize: policy.Authorize})
}

const (
	asRoot = " Authorization=Bearer-root-token"
	asJoe  = " Authorization=Bearer-joe-token"
	asAnn  = " Authorization=bearer-ann-token"
)

// askAs is ask, where a dash in the header Authorization stands for the blank behind the scheme.
func askAs(s http.Handler, request, body string) *httptest.ResponseRecorder {
	words := strings.Fields(request)
	r := httptest.NewRequest(words[0], words[1], strings.NewReader(body))
	r.Header.Set("User-Agent", "test/1")
	for _, header := range words[2:] {
		name, text, _ := strings.Cut(header, "=")
		if name == "Authorization" {
			text = strings.Replace(text, "-", " ", 1)
		}
		r.Header.Add(name, text)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestAccess sends requests of several users, with and without the right to make them.
func TestAccess(t *testing.T) {
	s := guarded(t)
	const (
		bob    = " Impersonate-User=bob"
		review = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews" + servertest.JSON
		pods   = servertest.Core + "namespaces/default/pods"
	)
	for _, c := range []struct {
		request string
		code    int
		want    string
	}{
		{"GET /version", 200, `"minor": "37"`},
		{"GET /version Authorization=Bearer-nobody", 401, "Unauthorized"},
		{"GET /version Authorization=Basic-xyz", 200, `"minor": "37"`},
		{"GET /metrics", 403, `forbidden: User "system:anonymous" cannot get path "/metrics"`},
		{"GET " + servertest.Things + "/web" + asJoe, 404, `widgets.example.org "web" not found`},
		{
			"DELETE " + servertest.Things + "/web" + asJoe, 403,
			`widgets.example.org "web" is forbidden: User "joe" cannot delete resource "widgets" in API group "example.org" ` +
				`in the namespace "default"`,
		},
		{
			"GET " + pods + asJoe, 403,
			`pods is forbidden: User "joe" cannot list resource "pods" in API group "" in the namespace "default"`,
		},
		{
			"GET " + servertest.Core + "nodes" + asJoe, 403,
			`nodes is forbidden: User "joe" cannot list resource "nodes" in API group "" at the cluster scope`,
		},
		{"GET /livez/ping" + asAnn, 200, "ok"},
		{"GET /metrics" + asJoe, 403, `forbidden: User "joe" cannot get path "/metrics"`}, // his rule names a namespace
		{"GET /metrics" + asAnn, 200, "apiserver_"},
		{"GET " + pods + asRoot, 200, `"kind":"PodList"`},
		{"GET " + pods + asAnn, 200, `"kind":"PodList"`},
		{
			"GET " + pods + asRoot + " Impersonate-Group=g", 400,
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} ` +
				`without impersonating a user name`,
		},
		{
			"GET " + pods + asRoot + " Impersonate-Extra-Foo=b", 400,
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"foo":[]string{"b"}}} ` +
				`without impersonating a user name`,
		},
		{"GET " + pods + asRoot + bob, 403, `pods is forbidden: User "bob" cannot list resource "pods"`},
		{"GET " + servertest.Things + "/web" + asJoe + bob + " Impersonate-Group=dev", 404, `widgets.example.org "web" not found`},
		{
			"GET " + servertest.Things + "/web" + asJoe + bob + " Impersonate-Uid=7", 403,
			`uids.authentication.k8s.io "7" is forbidden: User "joe" cannot impersonate resource "uids" in API group "authentication.k8s.io"`,
		},
		{
			"GET " + pods + " Authorization=Bearer-joe-token Impersonate-User=system:serviceaccount:a:b", 403,
			`serviceaccounts "b" is forbidden: User "joe" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a"`,
		},
		{review + asAnn + bob, 201, `"userInfo":{"groups":["system:authenticated"],"username":"bob"}`},
		{
			review + asRoot + bob + " Impersonate-Group=g Impersonate-Uid=7 Impersonate-Extra-A%2fB=x", 201,
			`"userInfo":{"extra":{"a/b":["x"]},"groups":["g","system:authenticated"],"uid":"7","username":"bob"}`,
		},
		{
			review + asRoot + " Impersonate-User=system:serviceaccount:a:b", 201,
			`"groups":["system:serviceaccounts","system:serviceaccounts:a","system:authenticated"]`,
		},
		{review + asRoot + " Impersonate-User=system:anonymous", 201, `"groups":["system:unauthenticated"]`},
	} {
		w := askAs(s, c.request, "{}")
		message := servertest.Message(w)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) && !strings.HasPrefix(message, c.want) {
			t.Errorf("%s\n got %d %s%s\nwant %d %s", c.request, w.Code, message, w.Body, c.code, c.want)
		}
	}
}

// TestReviews asks who somebody is, and what somebody may do.
func TestReviews(t *testing.T) {
	s := guarded(t)
	const (
		authn = "POST /apis/authentication.k8s.io/v1/"
		authz = "POST /apis/authorization.k8s.io/v1/"
		local = authz + "namespaces/default/localsubjectaccessreviews"
	)
	for _, c := range []struct {
		request, body string
		code          int
		want          string
	}{
		{authn + "tokenreviews", `{"spec":{"token":"joe-token"}}`, 201, `"status":{"audiences":["https://kubernetes.default.svc"],` +
			`"authenticated":true,"user":{"groups":["dev","ops","system:authenticated"],"uid":"2","username":"joe"}}`},
		{authn + "tokenreviews", `{"spec":{"token":"bad"}}`, 201, `"status":{"error":"invalid bearer token","user":{}}`},
		{authn + "tokenreviews", `{"spec":{"token":"joe-token","audiences":["foo"]}}`, 201, `"error":"invalid bearer token"`},
		{authn + "tokenreviews", `{}`, 400, "token is required for TokenReview in authentication"},
		{
			authz + "subjectaccessreviews",
			`{"spec":{"groups":["dev"],"resourceAttributes":{"verb":"get","resource":"widgets","group":"example.org",` +
				`"namespace":"default"}}}`,
			201, `"status":{"allowed":true}`,
		},
		{
			authz + "subjectaccessreviews", `{"spec":{"user":"joe","resourceAttributes":{"verb":"get","resource":"pods"}}}`, 201,
			`"status":{"allowed":false}`,
		},
		{
			authz + "subjectaccessreviews",
			`{"spec":{"user":"x","groups":["system:masters"],"nonResourceAttributes":{"verb":"get","path":"/x"}}}`,
			201, `"status":{"allowed":true}`,
		},
		{
			authz + "subjectaccessreviews", `{"spec":{}}`, 422,
			`.authorization.k8s.io "" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or ` +
				`resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`,
		},
		{
			authz + "subjectaccessreviews", `{"spec":{"user":"x","resourceAttributes":{},"nonResourceAttributes":{}}}`, 422,
			`.authorization.k8s.io "" is invalid: spec: Invalid value: {"Path":"","Verb":""}: exactly one of`,
		},
		{
			local, `{"spec":{"user":"joe","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}}`, 201,
			`"allowed":false`,
		},
		{
			local, `{"spec":{"user":"joe","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, 422,
			`.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`,
		},
		{
			local, `{"spec":{"nonResourceAttributes":{"path":"/"}}}`, 422,
			`.authorization.k8s.io "" is invalid: [spec.user: Invalid value: "": at least one of user or group must be specified, ` +
				`spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request]`,
		},
		{
			authz + "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/version"}}}`, 201,
			`"allowed":true`,
		},
	} {
		w := askAs(s, c.request+servertest.JSON+asRoot, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) && !strings.HasPrefix(servertest.Message(w), c.want) {
			t.Errorf("%s %s\n got %d %s\nwant %d %s", c.request, c.body, w.Code, w.Body, c.code, c.want)
		}
	}
}

// TestFiles reads token files and policies that are wrong: the error says where.
func TestFiles(t *testing.T) {
	for text, want := range map[string]string{
		"token,user": "record 1: a token needs token, user and uid", "a,b,c\n,b,c": "record 2: a token needs token, user and uid",
		"a,,c": "record 1: a token needs token, user and uid", "a,\"b,c": "parse error on line 1",
	} {
		if _, err := auth.ReadTokens(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("tokens %q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"a get pods":            `line 1: want user, verb, resource and namespace, got "a get pods"`,
		"# x\n\na get pods n m": `line 3: want user, verb, resource and namespace, got "a get pods n m"`,
	} {
		if _, err := auth.ReadPolicy(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("policy %q: %v, want %s", text, err, want)
		}
	}
}

// TestCertificates takes a client for whom its certificate names, once TLS has verified it, whatever its token says.
func TestCertificates(t *testing.T) {
	tokens := &auth.Tokens{}
	r := httptest.NewRequest("GET", "/", nil)
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "joe", Organization: []string{"dev", "ops"}}}
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	if u, err := tokens.Authenticate(r); err != nil || u.Name != "system:anonymous" {
		t.Errorf("a certificate that nobody verified: %+v, %v", u, err)
	}
	r.TLS.VerifiedChains = [][]*x509.Certificate{{leaf}}
	r.Header.Set("Authorization", "Bearer unknown")
	u, err := tokens.Authenticate(r)
	if err != nil || u.Name != "joe" || !slices.Equal(u.Groups, []string{"dev", "ops", "system:authenticated"}) {
		t.Errorf("a verified certificate: %+v, %v", u, err)
	}
}

// TestStrangers asks a server that lets nobody in who is not known how it does: that may be read, and nothing else.
func TestStrangers(t *testing.T) {
	tokens, err := auth.ReadTokens(strings.NewReader("root-token,root,1"))
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.New(t, server.Config{Authenticate: tokens.Authenticate, Authorize: auth.DenyAnonymous})
	for request, code := range map[string]int{
		"GET /livez": http.StatusOK, "GET /livez/ping": http.StatusOK, "GET /livezy": http.StatusForbidden,
		"POST /livez": http.StatusForbidden, "POST /livez" + asRoot: http.StatusOK,
		"GET " + servertest.Things: http.StatusForbidden, "GET " + servertest.Things + asRoot: http.StatusOK,
	} {
		if w := askAs(s, request, ""); w.Code != code {
			t.Errorf("%s: %d %s, want %d", request, w.Code, w.Body, code)
		}
	}
}
