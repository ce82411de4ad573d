package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// maker makes the roles, the bindings and the requests of a round.
type maker struct{ *rand.Rand }

func (m *maker) chance(p float64) bool { return m.Float64() < p }

// one returns a random item.
func one[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

// some returns one to n random items, and mostly one. An item may come twice.
func some[T any](m *maker, n int, of ...T) []T {
	count := 1
	if m.chance(0.4) {
		count += m.IntN(n)
	}
	out := make([]T, count)
	for i := range out {
		out[i] = one(m, of...)
	}
	return out
}

// content is a part of an object.
type content = map[string]any

// object is an object and the path of its collection.
type object struct {
	path string
	body content
}

const (
	rbacGroup = "rbac.authorization.k8s.io"
	rbacPath  = "/apis/" + rbacGroup + "/v1"
)

var namespaces = [...]string{"access-a", "access-b"}

// objects are what users read and write.
func objects() []object {
	var out []object
	add := func(path, apiVersion, kind, name string, members content) {
		o := content{"apiVersion": apiVersion, "kind": kind, "metadata": content{"name": name}}
		for member, v := range members {
			o[member] = v
		}
		out = append(out, object{path, o})
	}
	labels := content{"app": "a"}
	pod := content{"containers": []any{content{"name": "c", "image": "i"}}}
	for _, n := range namespaces {
		in := "/api/v1/namespaces/" + n
		add("/api/v1/namespaces", "v1", "Namespace", n, nil)
		for _, name := range names {
			add(in+"/configmaps", "v1", "ConfigMap", name, nil)
			add(in+"/secrets", "v1", "Secret", name, nil)
			add(in+"/serviceaccounts", "v1", "ServiceAccount", name, nil)
			add(in+"/pods", "v1", "Pod", name, content{"spec": pod})
			add("/apis/apps/v1/namespaces/"+n+"/deployments", "apps/v1", "Deployment", name, content{
				"spec": content{"selector": content{"matchLabels": labels}, "template": content{"metadata": content{"labels": labels}, "spec": pod}},
			})
		}
	}
	return out
}

// What rules and requests are about.
var (
	names     = [...]string{"o-0", "o-1"}
	groups    = [...]string{"", "", "apps", rbacGroup, "*", "nope.example.org"}
	resources = [...]string{
		"configmaps", "configmaps", "secrets", "pods", "pods/log", "pods/status", "pods/*", "deployments", "deployments/scale", "*/scale", "*/status",
		"*", "*/*", "serviceaccounts", "serviceaccounts/token", "namespaces", "nodes", "roles", "rolebindings", "clusterroles", "clusterrolebindings",
		"users", "groups", "uids", "userextras", "userextras/x", "nope",
	}
	verbs = [...]string{
		"get", "get", "list", "watch", "create", "create", "update", "patch", "delete", "deletecollection", "*", "*", "escalate", "bind",
		"impersonate", "impersonate", "nope", "GET",
	}
	paths = [...]string{"/version", "/metrics", "/healthz", "/healthz/*", "/nope", "/nope/*", "/apis/*", "/api", "*", "/*", "/openapi/*"}
	users = [...]string{"u-0", "u-1", "u-2", "u-3"}
	teams = [...]string{"g-0", "g-1", "g-2", "system:serviceaccounts", "system:serviceaccounts:access-a", "system:authenticated"}
)

// rule returns a rule of a role in a namespace, or of a role of the cluster.
func (m *maker) rule(cluster bool) content {
	if cluster && m.chance(0.15) {
		return content{"nonResourceURLs": some(m, 3, paths[:]...), "verbs": some(m, 3, "get", "get", "post", "head", "*", "put")}
	}
	out := content{"apiGroups": some(m, 3, groups[:]...), "resources": some(m, 4, resources[:]...), "verbs": some(m, 4, verbs[:]...)}
	if m.chance(0.3) {
		out["resourceNames"] = some(m, 3, "o-0", "o-1", "o-2", "", "u-2", "g-2", "r-0", "cr-0", "*")
	}
	return out
}

// rules returns the rules of a role.
func (m *maker) rules(cluster bool) []any {
	out := []any{}
	for range m.IntN(5) {
		out = append(out, m.rule(cluster))
	}
	return out
}

// subjects returns who a binding is for.
func (m *maker) subjects() []any {
	out := []any{}
	for range m.IntN(6) {
		s := content{"kind": "User", "apiGroup": rbacGroup, "name": one(m, users[:]...)}
		switch m.IntN(4) {
		case 0:
			s["kind"], s["name"] = "Group", one(m, teams[:]...)
		case 1:
			s = content{"kind": "ServiceAccount", "name": one(m, names[:]...), "namespace": one(m, namespaces[:]...)}
		}
		out = append(out, s)
	}
	return out
}

// role returns a Role, or a ClusterRole without a namespace.
func (m *maker) role(name, namespace string) object {
	o := content{"apiVersion": rbacGroup + "/v1", "kind": "ClusterRole", "metadata": content{"name": name}, "rules": m.rules(namespace == "")}
	if namespace != "" {
		o["kind"] = "Role"
	}
	return object{m.collection(strings.ToLower(o["kind"].(string))+"s", namespace), o}
}

// binding returns a RoleBinding, or a ClusterRoleBinding without a namespace.
func (m *maker) binding(name, namespace string) object {
	ref := content{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": m.roleName("ClusterRole")}
	o := content{"apiVersion": rbacGroup + "/v1", "kind": "ClusterRoleBinding", "metadata": content{"name": name}, "subjects": m.subjects(), "roleRef": ref}
	if namespace != "" {
		o["kind"] = "RoleBinding"
		if m.chance(0.5) {
			ref["kind"], ref["name"] = "Role", m.roleName("Role")
		}
	}
	return object{m.collection(strings.ToLower(o["kind"].(string))+"s", namespace), o}
}

// collection returns the path of roles or bindings.
func (m *maker) collection(resource, namespace string) string {
	if namespace == "" {
		return rbacPath + "/" + resource
	}
	return rbacPath + "/namespaces/" + namespace + "/" + resource
}

// roleName returns the name of a role, which may not exist.
func (m *maker) roleName(kind string) string {
	if kind == "Role" {
		return fmt.Sprint("r-", m.IntN(4))
	}
	if m.chance(0.15) {
		return one(m, "cluster-admin", "system:discovery", "system:node", "absent")
	}
	return fmt.Sprint("cr-", m.IntN(4))
}

// policy returns the roles and bindings of a round. No binding refers to a role that controllers write, such as admin: a kube-apiserver alone
// has it without rules.
func (m *maker) policy() []object {
	var out []object
	for i := range 3 {
		out = append(out, m.role(fmt.Sprint("cr-", i), ""), m.binding(fmt.Sprint("cb-", i), ""))
		for _, n := range namespaces {
			out = append(out, m.role(fmt.Sprint("r-", i), n), m.binding(fmt.Sprint("b-", i), n))
		}
	}
	return out
}
