package auth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/auth"
)

const policies = `# the current form, and the older one
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice","namespace":"*","resource":"*","apiGroup":"*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"viewers","readonly":true,"namespace":"n","resource":"pods"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"*","nonResourcePath":"/healthz/*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"namespace":"*","resource":"*","apiGroup":"*"}}

{"user":"bob","namespace":"n","readonly":true}
{"user":"carol"}
`

// TestABAC asks about actions that policies allow and refuse.
func TestABAC(t *testing.T) {
	abac, err := auth.ReadABAC(strings.NewReader(policies))
	if err != nil {
		t.Fatal(err)
	}
	action := func(verb, group, resource, namespace string) auth.Action {
		return auth.Action{Verb: verb, Group: group, Resource: resource, Namespace: namespace}
	}
	viewer := auth.User{Name: "v", Groups: []string{"viewers", "system:authenticated"}}
	named := func(name string) auth.User { return auth.User{Name: name, Groups: []string{"system:authenticated"}} }
	for _, c := range []struct {
		user   auth.User
		action auth.Action
		want   bool
	}{
		{named("alice"), action("delete", "apps", "deployments", "n"), true},
		{named("alice"), auth.Action{Verb: "get", Path: "/metrics"}, false},
		{viewer, action("list", "", "pods", "n"), true},
		{viewer, action("list", "", "pods", "m"), false},
		{viewer, action("list", "", "pods", ""), false},
		{viewer, action("create", "", "pods", "n"), false},
		{viewer, action("list", "apps", "pods", "n"), false},
		{viewer, auth.Action{Verb: "post", Path: "/healthz/ping"}, true},
		{viewer, auth.Action{Verb: "get", Path: "/healthz"}, false},
		{named("bob"), action("get", "apps", "deployments", "n"), true},
		{named("bob"), action("update", "apps", "deployments", "n"), false},
		{named("bob"), auth.Action{Verb: "get", Path: "/metrics"}, false},
		{named("carol"), action("update", "apps", "deployments", "n"), true},
		{named("carol"), auth.Action{Verb: "get", Path: "/metrics"}, true},
		{named("dave"), action("get", "", "pods", "n"), false},
	} {
		got, why := abac.Authorize(t.Context(), c.user, c.action)
		if got != c.want || !got && why != "abac: No policy matched." {
			t.Errorf("%s: %+v: %t %q", c.user.Name, c.action, got, why)
		}
	}
	for text, want := range map[string]bool{
		policies: false, `{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"*","readonly":true,"namespace":"*","resource":"*","apiGroup":"*"}}`: true,
	} {
		if l, err := auth.ReadABAC(strings.NewReader(text)); err != nil || l.AllowsAnonymous() != want {
			t.Errorf("%s: anonymous users may read everything: %t, want %t; %v", text, !want, want, err)
		}
	}
	rules := abac.Rules(t.Context(), named("bob"), "n")
	if got, want := fmt.Sprint(rules.Resources, rules.Paths), "[{[get list watch] [*] [*] []}] []"; got != want {
		t.Errorf("the rules are %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"{\n": "line 1: unexpected end of JSON input", "\n[]": "line 2: ", `{"apiVersion":"v1","kind":"Policy"}`: "line 1: v1 Policy is no Policy",
	} {
		if _, err := auth.ReadABAC(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
}
