package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestImpersonation lists what an authorizer is asked about requests for somebody else, when it denies some of it, and who makes the
// request then.
func TestImpersonation(t *testing.T) {
	var denied string
	var asked []string
	config := server.Config{
		Authenticate: func(*http.Request) (auth.User, error) { return auth.User{Name: "joe"}, nil },
		Authorize: func(_ context.Context, u auth.User, a auth.Action) (bool, string) {
			if u.Name != "joe" {
				return true, ""
			}
			what := a.Verb + " " + a.Path
			if a.Path == "" {
				what += fmt.Sprintf("%s/%s/%s/%s %s/%s", a.Group, a.Version, a.Resource, a.Subresource, a.Namespace, a.Name)
			}
			asked = append(asked, what)
			return denied == "" || !strings.HasPrefix(what, denied), "no"
		},
	}
	const review = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews" + servertest.JSON
	const on = " authentication.k8s.io/v1/selfsubjectreviews/ /"
	for _, c := range []struct {
		headers, denied string
		asked           []string
		want            string // the user, or the refusal
	}{
		{"Impersonate-User=bob", "", []string{"impersonate-on:user-info:create" + on, "impersonate:user-info authentication.k8s.io/v1/users/ /bob"},
			`{"groups":["system:authenticated"],"username":"bob"}`},
		{"Impersonate-User=bob Impersonate-Uid=7 Impersonate-Group=g Impersonate-Group=h Impersonate-Extra-Foo=x", "",
			[]string{"impersonate-on:user-info:create" + on, "impersonate:user-info authentication.k8s.io/v1/users/ /bob",
				"impersonate:user-info authentication.k8s.io/v1/uids/ /7", "impersonate:user-info authentication.k8s.io/v1/groups/ /g",
				"impersonate:user-info authentication.k8s.io/v1/groups/ /h", "impersonate /v1/users/ /bob", "impersonate authentication.k8s.io/v1/uids/ /7",
				"impersonate /v1/groups/ /g", "impersonate /v1/groups/ /h", "impersonate authentication.k8s.io/v1/userextras/foo /x"},
			`{"extra":{"foo":["x"]},"groups":["g","h","system:authenticated"],"uid":"7","username":"bob"}`},
		{"Impersonate-User=bob Impersonate-Extra-D=1 Impersonate-Extra-B=2 Impersonate-Extra-C=3 Impersonate-Extra-A=4", "impersonate-on",
			[]string{"impersonate-on:user-info:create" + on, "impersonate /v1/users/ /bob", "impersonate authentication.k8s.io/v1/userextras/a /4",
				"impersonate authentication.k8s.io/v1/userextras/b /2", "impersonate authentication.k8s.io/v1/userextras/c /3",
				"impersonate authentication.k8s.io/v1/userextras/d /1"},
			`{"extra":{"a":["4"],"b":["2"],"c":["3"],"d":["1"]},"groups":["system:authenticated"],"username":"bob"}`},
		{"Impersonate-User=bob Impersonate-Uid=7 Impersonate-Group=g Impersonate-Extra-Foo=x", "impersonate-on",
			[]string{"impersonate-on:user-info:create" + on, "impersonate /v1/users/ /bob", "impersonate authentication.k8s.io/v1/uids/ /7",
				"impersonate /v1/groups/ /g", "impersonate authentication.k8s.io/v1/userextras/foo /x"},
			`{"extra":{"foo":["x"]},"groups":["g","system:authenticated"],"uid":"7","username":"bob"}`},
		{"Impersonate-User=bob", "impersonate", []string{"impersonate-on:user-info:create" + on, "impersonate /v1/users/ /bob"},
			`selfsubjectreviews.authentication.k8s.io is forbidden: User "joe" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope: no`},
		{"Impersonate-User=bob Impersonate-Group=g", "impersonate:user-info authentication.k8s.io/v1/groups", []string{
			"impersonate-on:user-info:create" + on, "impersonate:user-info authentication.k8s.io/v1/users/ /bob",
			"impersonate:user-info authentication.k8s.io/v1/groups/ /g", "impersonate /v1/users/ /bob", "impersonate /v1/groups/ /g"},
			`{"groups":["g","system:authenticated"],"username":"bob"}`},
		{"Impersonate-User=system:serviceaccount:a:b", "", []string{"impersonate-on:serviceaccount:create" + on,
			"impersonate:serviceaccount authentication.k8s.io/v1/serviceaccounts/ a/b"},
			`{"groups":["system:serviceaccounts","system:serviceaccounts:a","system:authenticated"],"username":"system:serviceaccount:a:b"}`},
		{"Impersonate-User=system:serviceaccount:a:b Impersonate-Group=g", "", []string{"impersonate /v1/serviceaccounts/ a/b", "impersonate /v1/groups/ /g"},
			`{"groups":["g","system:authenticated"],"username":"system:serviceaccount:a:b"}`},
		{"Impersonate-User=system:serviceaccount:a", "", []string{"impersonate-on:user-info:create" + on,
			"impersonate:user-info authentication.k8s.io/v1/users/ /system:serviceaccount:a"}, `{"groups":["system:authenticated"],"username":"system:serviceaccount:a"}`},
		{"Impersonate-User=system:node:n", "", []string{"impersonate-on:arbitrary-node:create" + on, "impersonate:arbitrary-node authentication.k8s.io/v1/nodes/ /n"},
			`{"groups":["system:nodes","system:authenticated"],"username":"system:node:n"}`},
		{"Impersonate-User=system:node:n", "impersonate:", []string{"impersonate-on:arbitrary-node:create" + on,
			"impersonate:arbitrary-node authentication.k8s.io/v1/nodes/ /n", "impersonate /v1/users/ /system:node:n"},
			`{"groups":["system:authenticated"],"username":"system:node:n"}`},
		{"Impersonate-User=system:node:n Impersonate-Uid=7", "", []string{"impersonate /v1/users/ /system:node:n", "impersonate authentication.k8s.io/v1/uids/ /7"},
			`{"groups":["system:authenticated"],"uid":"7","username":"system:node:n"}`},
		{"Impersonate-User=system:anonymous Impersonate-Group=system:unauthenticated", "", []string{"impersonate-on:user-info:create" + on,
			"impersonate:user-info authentication.k8s.io/v1/users/ /system:anonymous", "impersonate:user-info authentication.k8s.io/v1/groups/ /system:unauthenticated"},
			`{"groups":["system:unauthenticated"],"username":"system:anonymous"}`},
		{"Impersonate-User=bob Impersonate-Group=system:unauthenticated", "", []string{"impersonate-on:user-info:create" + on,
			"impersonate:user-info authentication.k8s.io/v1/users/ /bob", "impersonate:user-info authentication.k8s.io/v1/groups/ /system:unauthenticated"},
			`{"groups":["system:unauthenticated"],"username":"bob"}`},
		{"Impersonate-User=bob Impersonate-Group=system:authenticated", "", []string{"impersonate-on:user-info:create" + on,
			"impersonate:user-info authentication.k8s.io/v1/users/ /bob", "impersonate:user-info authentication.k8s.io/v1/groups/ /system:authenticated"},
			`{"groups":["system:authenticated"],"username":"bob"}`},
		{"Impersonate-Uid=7", "", nil, `requested &user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`},
		{"Impersonate-User=", "", []string{"create" + on}, `{"username":"joe"}`},
		{"Impersonate-Other=x", "", []string{"create" + on}, `{"username":"joe"}`},
	} {
		asked, denied = nil, c.denied
		s := servertest.New(t, config) // which knows nothing of earlier impersonations
		w := askAs(s, review+" "+c.headers, "{}")
		got := servertest.Message(w)
		if w.Code == http.StatusCreated {
			got = servertest.Parsed(t, w).Get("status", "userInfo").String()
		}
		if got != c.want || !slices.Equal(asked, c.asked) {
			t.Errorf("%s\n  is %s\nwant %s\nasked %q\n want %q", c.headers, got, c.want, asked, c.asked)
		}
	}
	s := servertest.New(t, config)
	for request, want := range map[string]string{
		"GET /version":                           "impersonate-on:user-info:get /version",
		"GET /api/v1/namespaces/n/pods/p/status": "impersonate-on:user-info:get /v1/pods/status n/p",
	} {
		asked, denied = nil, "impersonate"
		if askAs(s, request+" Impersonate-User=bob", ""); len(asked) == 0 || asked[0] != want {
			t.Errorf("%s: asked was %q, want %s", request, asked, want)
		}
	}
	w := askAs(s, "GET /api/v1/namespaces/n/pods/p/status Impersonate-User=bob", "")
	want := `pods "p" is forbidden: User "joe" cannot impersonate-on:user-info:get resource "pods/status" in API group "" in the namespace "n": no`
	if got := servertest.Message(w); got != want {
		t.Errorf("refused is %s, want %s", got, want)
	}
}

// TestRules asks for everything that a client may do, of a server that allows everything and of one that cannot tell.
func TestRules(t *testing.T) {
	const review = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews" + servertest.JSON
	for _, c := range []struct {
		server     *server.Server
		body, want string
	}{
		{servertest.Widgets(t), `{"spec":{"namespace":"n"}}`, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["*"],"verbs":["*"]}],"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`},
		{guarded(t), `{"spec":{"namespace":"n"}}`, `{"evaluationError":"the authorizer does not list its rules","incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
		{guarded(t), `{}`, "no namespace on request"},
	} {
		w := askAs(c.server, review+asRoot, c.body)
		got := servertest.Message(w)
		if w.Code == http.StatusCreated {
			got = servertest.Parsed(t, w).Get("status").String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
}
