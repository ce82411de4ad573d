package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/auth"
)

// TestImpersonate lets jane, who has the permissions of a policy, get pods as other users.
func TestImpersonate(t *testing.T) {
	const joe = "Impersonate-User: joe"
	for _, c := range []struct{ name, policy, headers, want string }{
		{"no headers", "", "Accept: x", "{jane  [] map[]}"},
		{"every request", "jane impersonate users -", joe, "{joe  [system:authenticated] map[]}"},
		{"requests like this one", "jane impersonate-on:user-info:get pods a\njane impersonate:user-info users.authentication.k8s.io -", joe,
			"{joe  [system:authenticated] map[]}"},
		{"another verb", "jane impersonate-on:user-info:list pods a\njane impersonate:user-info users.authentication.k8s.io -", joe,
			`pods "x" is forbidden: User "jane" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "a"`},
		{"half of it", "jane impersonate-on:user-info:get pods a", joe,
			`users.authentication.k8s.io "joe" is forbidden: User "jane" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`},
		{"groups", "jane impersonate users -\njane impersonate groups -", joe + "\nImpersonate-Group: devs\nImpersonate-Group: ops",
			"{joe  [devs ops system:authenticated] map[]}"},
		{"groups without permission", "jane impersonate users -", joe + "\nImpersonate-Group: devs", "forbidden"},
		{"uid", "jane impersonate users -\njane impersonate uids.authentication.k8s.io -", joe + "\nImpersonate-Uid: 7",
			"{joe 7 [system:authenticated] map[]}"},
		{"uid without permission", "jane impersonate users -", joe + "\nImpersonate-Uid: 7", "forbidden"},
		{"extra", "jane impersonate users -\njane impersonate userextras.authentication.k8s.io/a/b -", joe + "\nImpersonate-Extra-A%2fb: c",
			"{joe  [system:authenticated] map[a/b:[c]]}"},
		{"extra without permission", "jane impersonate users -\njane impersonate userextras.authentication.k8s.io/a -", joe + "\nImpersonate-Extra-B: c", "forbidden"},
		{"a service account", "jane impersonate serviceaccounts ns", "Impersonate-User: system:serviceaccount:ns:sa",
			"{system:serviceaccount:ns:sa  [system:serviceaccounts system:serviceaccounts:ns system:authenticated] map[]}"},
		{"a service account of another namespace", "jane impersonate serviceaccounts other", "Impersonate-User: system:serviceaccount:ns:sa",
			`cannot impersonate-on:serviceaccount:get resource "pods"`},
		{"what is no service account", "jane impersonate users -", "Impersonate-User: system:serviceaccount:ns", "{system:serviceaccount:ns  [system:authenticated] map[]}"},
		{"a node", "jane impersonate-on:arbitrary-node:get pods a\njane impersonate:arbitrary-node nodes.authentication.k8s.io -", "Impersonate-User: system:node:n",
			"{system:node:n  [system:nodes system:authenticated] map[]}"},
		{"a node with a group", "jane * nodes.authentication.k8s.io -\njane * pods a\njane * groups.authentication.k8s.io -", "Impersonate-User: system:node:n\nImpersonate-Group: g",
			`users "system:node:n" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope`},
		{"nobody", "* * * *", "Impersonate-User: system:anonymous", "{system:anonymous  [system:unauthenticated] map[]}"},
		{"groups and no name", "* * * *", "Impersonate-Group: devs",
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name`},
		{"an unknown header", "", "Impersonate-Other: x", "{jane  [] map[]}"},
	} {
		policy, err := auth.ReadPolicy(strings.NewReader(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		access := &auth.Access{Authorizer: policy.Authorize}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for line := range strings.Lines(c.headers) {
			name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r.Header.Add(name, text)
		}
		action := auth.Action{Verb: "get", Version: "v1", Resource: "pods", Namespace: "a", Name: "x"}
		u := auth.User{Name: "jane"}
		as, _, err := access.Impersonate(r, u, action)
		if as != nil {
			u = *as
		}
		got := fmt.Sprint(u)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if err == nil && u.Name != "jane" {
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					t.Errorf("%s: the request still has the header %s", c.name, name)
				}
			}
		}
	}
}
