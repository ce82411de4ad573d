package rbac_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/rbac"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

const path = "/apis/rbac.authorization.k8s.io/v1/"

// may asks a server whether joe may do something: a verb, a resource and a namespace.
func may(t testing.TB, s http.Handler, verb, resource, namespace string) bool {
	t.Helper()
	_, review := servertest.Send(t, s, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", fmt.Sprintf(
		`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"joe","resourceAttributes":{"verb":%q,"resource":%q,"namespace":%q}}}`,
		verb, resource, namespace))
	return review.Get("status", "allowed").Equal(value.Bool(true))
}

// send sends a request that must succeed.
func send(t testing.TB, s http.Handler, method, path, body string) value.Value {
	t.Helper()
	code, answer := servertest.Send(t, s, method, path, body)
	if code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	return answer
}

// binding is the body of a binding of a ClusterRole to joe.
func binding(name, role string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":%q},
		"subjects":[{"kind":"User","name":"joe","apiGroup":"rbac.authorization.k8s.io"}]}`, name, role)
}

// TestChanges grants and withdraws permissions in each way that there is. Each holds for the next request.
func TestChanges(t *testing.T) {
	s := servertest.New(t, server.Config{RBAC: true})
	rule := func(verb string) string {
		return `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["` + verb + `"]}]}`
	}
	for _, step := range []struct {
		method, path, body string
		get, list          bool
	}{
		{"POST", "clusterrolebindings", binding("b", "r"), false, false},
		{"POST", "clusterroles", rule("get"), true, false},
		{"PUT", "clusterroles/r", rule("list"), false, true},
		{"DELETE", "clusterrolebindings/b", "", false, false},
		{"POST", "namespaces/default/rolebindings", binding("b", "r"), false, true},
		{"PATCH", "namespaces/default/rolebindings/b", `{"subjects":null}`, false, false},
		{"PATCH", "namespaces/default/rolebindings/b", `{"subjects":[{"kind":"User","name":"joe","apiGroup":"rbac.authorization.k8s.io"}]}`, false, true},
		{"DELETE", "clusterroles/r", "", false, false},
	} {
		send(t, s, step.method, path+step.path, step.body)
		if get, list := may(t, s, "get", "pods", "default"), may(t, s, "list", "pods", "default"); get != step.get || list != step.list {
			t.Errorf("after %s %s: get %t, list %t", step.method, step.path, get, list)
		}
	}
}

// TestMissingRoles refuses a user whose roles do not exist. The refusal lists them by their bindings, whoever the bindings are for.
func TestMissingRoles(t *testing.T) {
	s := servertest.New(t, server.Config{RBAC: true})
	ofGroup := strings.Replace(binding("a", "first"), `"kind":"User","name":"joe"`, `"kind":"Group","name":"g"`, 1)
	send(t, s, "POST", path+"clusterrolebindings", ofGroup)
	send(t, s, "POST", path+"clusterrolebindings", binding("b", "second"))
	review := send(t, s, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",
		"spec":{"user":"joe","groups":["g"],"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	const want = `rbac: RBAC: [clusterrole.rbac.authorization.k8s.io "first" not found, clusterrole.rbac.authorization.k8s.io "second" not found]`
	if reason := review.Get("status", "reason").Str(); reason != want {
		t.Errorf("the reason is %q", reason)
	}
}

// TestAggregation fills roles that select others: those of a new cluster, a role in two steps, and a role that is selected no more.
func TestAggregation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.New(t, server.Config{RBAC: true})
		if rules := send(t, s, "GET", path+"clusterroles/view", "").Get("rules"); rules.Len() == 0 {
			t.Error("view has no rules")
		}
		if admin := send(t, s, "GET", path+"clusterroles/admin", "").Get("rules"); !strings.Contains(admin.String(), "localsubjectaccessreviews") ||
			!strings.Contains(admin.String(), "impersonate") {
			t.Errorf("admin has no rules of its own or of edit: %s", admin)
		}
		send(t, s, "POST", path+"clusterrolebindings", binding("b", "outer"))
		selecting := `{"metadata":{"name":%q,"labels":{"to":%q}},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":%q}}]}}`
		send(t, s, "POST", path+"clusterroles", fmt.Sprintf(selecting, "outer", "", "outer"))
		send(t, s, "POST", path+"clusterroles", fmt.Sprintf(selecting, "middle", "outer", "middle"))
		send(t, s, "POST", path+"clusterroles", `{"metadata":{"name":"inner","labels":{"to":"middle"}},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`)
		synctest.Wait()
		if !may(t, s, "get", "pods", "x") {
			t.Error("rules do not pass through two roles")
		}
		owner := send(t, s, "GET", path+"clusterroles/outer", "").Get("metadata", "managedFields")
		if !strings.Contains(owner.String(), `"manager":"clusterrole-aggregation-controller","operation":"Apply"`) {
			t.Errorf("the rules belong to %s", owner)
		}
		send(t, s, "PATCH", path+"clusterroles/inner", `{"metadata":{"labels":null}}`)
		synctest.Wait()
		if may(t, s, "get", "pods", "x") {
			t.Error("rules stay in a role that does not select them")
		}
	})
}

// TestBootstrap starts a server on a store whose initial roles were changed. It adds what they lack, unless they are protected.
func TestBootstrap(t *testing.T) {
	kept := memory.New()
	first := servertest.New(t, server.Config{RBAC: true, Store: kept})
	for _, r := range [][3]string{
		{"PATCH", "clusterroles/system:basic-user", `{"rules":[{"apiGroups":["x"],"resources":["y"],"verbs":["z"]}],"metadata":{"labels":null}}`},
		{"PATCH", "clusterroles/system:discovery", `{"rules":[],"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}}`},
		{"PATCH", "clusterroles/edit", `{"aggregationRule":null}`},
		{"PATCH", "clusterrolebindings/system:basic-user", `{"subjects":null}`},
		{"DELETE", "clusterrolebindings/system:discovery", ""},
		{"POST", "clusterrolebindings", strings.Replace(binding("system:discovery", "x"), `"name":"joe"`, `"name":"ann"`, 1)},
		{"DELETE", "namespaces/kube-system/roles/system:controller:token-cleaner", ""},
		// Initial objects that begin with what former ones have.
		{"PATCH", "clusterroles/view", `{"aggregationRule":null,"rules":[{"apiGroups":["x"],"resources":["mine"],"verbs":["z"]}]}`},
		{"DELETE", "clusterroles/system:aggregate-to-view", ""},
		{"DELETE", "clusterrolebindings/system:public-info-viewer", ""},
	} {
		send(t, first, r[0], path+r[1], r[2])
	}
	first.Close()
	s := servertest.New(t, server.Config{RBAC: true, Store: kept})
	for _, want := range [][2]string{
		{"clusterroles/system:basic-user", `"resources":["y"]`}, {"clusterroles/system:basic-user", `"selfsubjectreviews"`},
		{"clusterroles/system:basic-user", `"kubernetes.io/bootstrapping":"rbac-defaults"`},
		{"clusterroles/system:discovery", `"autoupdate":"false"`}, {"clusterroles/edit", "aggregate-to-edit"},
		{"clusterrolebindings/system:basic-user", "system:authenticated"}, {"clusterrolebindings/system:discovery", `"name":"system:discovery"`},
		{"namespaces/kube-system/roles/system:controller:token-cleaner", `"secrets"`},
		{"clusterroles/system:aggregate-to-view", `"mine"`}, {"clusterroles/system:aggregate-to-view", `"configmaps"`},
		{"clusterrolebindings/system:public-info-viewer", `"ann"`}, {"clusterrolebindings/system:public-info-viewer", "system:unauthenticated"},
	} {
		object := send(t, s, "GET", path+want[0], "")
		bare := object.With("metadata", object.Get("metadata").With("managedFields", value.Value{})).String()
		if !strings.Contains(strings.ReplaceAll(bare, "rbac.authorization.kubernetes.io/", ""), strings.ReplaceAll(want[1], "rbac.authorization.kubernetes.io/", "")) {
			t.Errorf("%s lacks %s: %s", want[0], want[1], bare)
		}
	}
	if rules := send(t, s, "GET", path+"clusterroles/system:discovery", "").Get("rules"); rules.Len() > 0 {
		t.Errorf("a protected role has rules again: %s", rules)
	}
}

// TestNothingByDefault finds no role in a server whose roles do not decide.
func TestNothingByDefault(t *testing.T) {
	s := servertest.New(t, server.Config{})
	for _, resource := range rbac.Resources {
		if items := send(t, s, "GET", path+resource, "").Get("items"); items.Len() > 0 {
			t.Errorf("%d %s exist", items.Len(), resource)
		}
	}
}

// BenchmarkAuthorize decides about a request in a store with 1,000 roles, each bound to a user of its own, and 1,000 that are bound to one
// user, who may do what the last one allows, or nothing.
func BenchmarkAuthorize(b *testing.B) {
	kept := memory.New()
	s := servertest.New(b, server.Config{RBAC: true, Store: kept})
	for i := range 1000 {
		role := fmt.Sprintf(`{"metadata":{"name":"r%04d"},"rules":[{"apiGroups":["g%04[1]d"],"resources":["things","things/status"],"verbs":["get","list","watch"]}]}`, i)
		send(b, s, "POST", path+"clusterroles", role)
		send(b, s, "POST", path+"clusterrolebindings", strings.ReplaceAll(binding(fmt.Sprintf("b%04d", i), fmt.Sprintf("r%04d", i)), `"name":"joe"`,
			fmt.Sprintf(`"name":"u%04d"},{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"joe"`, i)))
	}
	prefixed := func(plural string) *catalog.Resource { return &catalog.Resource{Prefix: "/registry/" + plural + "/"} }
	a := rbac.New(kept, prefixed, logs.Logger{})
	for _, c := range []struct {
		name, user, group string
		allowed           bool
	}{{"one of 1000 roles", "u0500", "g0500", true}, {"refused", "u0500", "g0501", false}, {"1000 roles of one user", "joe", "g0999", true}, {"1000 roles of one user, refused", "joe", "x", false}} {
		b.Run(c.name, func(b *testing.B) {
			u := auth.User{Name: c.user, Groups: []string{"system:authenticated"}}
			b.ReportAllocs()
			for b.Loop() {
				if ok, why := a.Authorize(b.Context(), u, auth.Action{Verb: "watch", Group: c.group, Resource: "things", Namespace: "n"}); ok != c.allowed {
					b.Fatal(ok, why)
				}
			}
		})
	}
}
