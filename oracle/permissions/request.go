package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/deed-project/deed/oracle/pair"
)

// request returns a random request.
func (m *maker) request() pair.Request {
	var q pair.Request
	switch n := m.IntN(100); {
	case n < 40:
		q = m.access()
	case n < 50:
		q = pair.Request{Method: one(m, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut), Path: one(m, "/version/nope", "/healthz",
			"/healthz/ping", "/nope", "/nope/x", "/apis/apps", "/apis", "/api", "/openapi/v3", "/openapi/v2/", "/", "/api/v1", "/livez", "/readyz/ping", "/apis/nope/")}
	case n < 70:
		q = m.review()
	default:
		q = m.grant()
	}
	q.Header = m.user()
	return q
}

// user returns the headers that name the user of a request: the user of a token, or a user that this one impersonates.
func (m *maker) user() http.Header {
	h := http.Header{}
	switch n := m.IntN(10); {
	case n < 3:
		h.Set("Authorization", "Bearer "+one(m, "tok-0", "tok-1"))
		if n > 0 {
			return h
		}
	case n == 9:
		return h
	}
	h.Set("Impersonate-User", one(m, "u-0", "u-1", "u-2", "u-3", "u-3", "system:serviceaccount:access-a:o-0", "system:serviceaccount:access-b:o-1",
		"system:serviceaccount:access-b:", "system:anonymous", "system:node:n", "system:masters", ""))
	if m.chance(0.5) {
		h["Impersonate-Group"] = some(m, 3, "g-0", "g-1", "g-2", "system:authenticated", "system:unauthenticated", "system:masters", "")
	}
	if m.chance(0.1) {
		h.Set("Impersonate-Uid", one(m, "x", ""))
	}
	if m.chance(0.1) {
		h["Impersonate-Extra-"+one(m, "X", "Y%2fz", "%zz")] = some(m, 2, "v", "", "w")
	}
	if m.chance(0.02) {
		h.Del("Impersonate-User")
	}
	return h
}

// target is a resource that requests are about.
type target struct{ prefix, resource, apiVersion, kind string }

var targets = [...]target{
	{"/api/v1", "configmaps", "v1", "ConfigMap"}, {"/api/v1", "configmaps", "v1", "ConfigMap"}, {"/api/v1", "secrets", "v1", "Secret"}, {"/api/v1", "pods", "v1", "Pod"},
	{"/api/v1", "serviceaccounts", "v1", "ServiceAccount"}, {"/apis/apps/v1", "deployments", "apps/v1", "Deployment"},
	{rbacPath, "roles", rbacGroup + "/v1", "Role"}, {"/api/v1", "nopes", "v1", "Nope"}, {"/apis/nope.example.org/v1", "nopes", "nope.example.org/v1", "Nope"},
	{"/api/v1", "nodes", "v1", "Node"}, {"/api/v1", "namespaces", "v1", "Namespace"}, {rbacPath, "clusterroles", rbacGroup + "/v1", "ClusterRole"},
}

// access returns a read or a write of an object or a collection.
func (m *maker) access() pair.Request {
	t := one(m, targets[:]...)
	q := pair.Request{Path: t.prefix, Method: one(m, http.MethodGet, http.MethodGet, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)}
	if t.kind != "Node" && t.kind != "Namespace" && t.kind != "ClusterRole" && m.chance(0.9) {
		q.Path += "/namespaces/" + one(m, "access-a", "access-a", "access-b", "absent")
	}
	if q.Path += "/" + t.resource; m.chance(0.7) && q.Method != http.MethodPost || m.chance(0.1) || t.kind == "ClusterRole" {
		q.Path += "/" + one(m, "o-0", "o-0", "o-1", "o-2", "r-0", "cr-1", "access-a")
		if m.chance(0.3) {
			q.Path += "/" + one(m, "status", "log", "scale", "token", "nope", "finalize")
		}
	}
	query := url.Values{}
	switch q.Method {
	case http.MethodGet:
		if m.chance(0.1) {
			query.Set("watch", "true")
			query.Set("timeoutSeconds", "1")
			query.Set("resourceVersion", "1000000") // nothing is sent: the events of both servers have other versions
		}
		if m.chance(0.2) {
			query.Set("fieldSelector", one(m, "metadata.name=o-0", "metadata.name=o-1,metadata.namespace=access-a", "metadata.name!=o-0"))
		}
	case http.MethodDelete:
		query.Set("dryRun", "All")
	default:
		query.Set("dryRun", "All")
		q.Body = content{"apiVersion": t.apiVersion, "kind": t.kind, "metadata": content{"name": one(m, "o-0", "o-1", "o-2"), "labels": content{"a": "b"}}}
		if q.Method == http.MethodPatch {
			if q.ContentType = one(m, "application/merge-patch+json", "application/apply-patch+yaml"); q.ContentType != "application/merge-patch+json" {
				query.Set("fieldManager", "m")
			}
		}
	}
	if len(query) > 0 {
		q.Path += "?" + query.Encode()
	}
	return q
}

// attributes returns what a review asks for, of a resource.
func (m *maker) attributes() content {
	out := content{"verb": one(m, verbs[:]...), "group": one(m, groups[:]...), "resource": one(m, resources[:]...)}
	maybe := func(p float64, member string, of ...any) {
		if m.chance(p) {
			out[member] = one(m, of...)
		}
	}
	maybe(0.6, "namespace", "access-a", "access-b", "absent", "")
	maybe(0.4, "name", "o-0", "o-1", "", "u-2", "cr-0")
	maybe(0.2, "subresource", "log", "status", "scale", "", "*")
	maybe(0.2, "version", "v1", "*", "nope")
	maybe(0.1, "fieldSelector", content{"rawSelector": "metadata.name=o-0"}, content{"rawSelector": "a in (b)"}, content{},
		content{"requirements": []any{content{"key": "k", "operator": "In", "values": []any{"v"}}}}, content{"requirements": []any{content{"key": "k", "operator": "Nope"}}})
	maybe(0.1, "labelSelector", content{"rawSelector": "a in (b)"}, content{"rawSelector": "a in b"}, content{},
		content{"requirements": []any{content{"key": "k", "operator": "Exists"}}}, content{"requirements": []any{content{"key": "", "operator": "In"}}, "rawSelector": "a=b"})
	return out
}

// review returns a question about permissions.
func (m *maker) review() pair.Request {
	spec, kind, path := content{}, one(m, "SelfSubjectAccessReview", "SubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview"), ""
	switch kind {
	case "SelfSubjectReview":
		return pair.Request{Method: http.MethodPost, Path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", Body: content{
			"apiVersion": "authentication.k8s.io/v1", "kind": kind,
		}}
	case "SelfSubjectRulesReview":
		spec["namespace"] = one(m, "access-a", "access-b", "absent", "")
	case "SubjectAccessReview", "LocalSubjectAccessReview":
		if m.chance(0.9) {
			spec["user"] = one(m, "u-0", "u-1", "u-2", "system:serviceaccount:access-a:o-0", "", "nope")
		}
		if m.chance(0.5) {
			spec["groups"] = some(m, 3, teams[:]...)
		}
		if m.chance(0.1) {
			spec["extra"], spec["uid"] = content{"x": []any{"v"}}, "u"
		}
	}
	if kind != "SelfSubjectRulesReview" {
		if m.chance(0.85) {
			spec["resourceAttributes"] = m.attributes()
		}
		if _, ok := spec["resourceAttributes"]; !ok || m.chance(0.03) {
			spec["nonResourceAttributes"] = content{"path": one(m, paths[:]...), "verb": one(m, "get", "post", "*", "")}
		}
	}
	path = map[string]string{
		"SelfSubjectAccessReview": "/selfsubjectaccessreviews", "SubjectAccessReview": "/subjectaccessreviews", "SelfSubjectRulesReview": "/selfsubjectrulesreviews",
		"LocalSubjectAccessReview": "/namespaces/access-a/localsubjectaccessreviews",
	}[kind]
	return pair.Request{
		Method: http.MethodPost, Path: "/apis/authorization.k8s.io/v1" + path,
		Body: content{"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec},
	}
}

// grant returns a write of a role or of a binding.
func (m *maker) grant() pair.Request {
	namespace := one(m, "", "access-a", "access-b")
	o, prefix := object{}, ""
	if m.chance(0.5) {
		if prefix = "r-"; namespace == "" {
			prefix = "cr-"
		}
		o = m.role(fmt.Sprint(prefix, m.IntN(4)), namespace)
		if namespace == "" && m.chance(0.1) {
			o.body["aggregationRule"] = content{"clusterRoleSelectors": one(m, []any{}, []any{content{"matchLabels": content{"no": "label"}}})}
		}
	} else {
		if prefix = "b-"; namespace == "" {
			prefix = "cb-"
		}
		o = m.binding(fmt.Sprint(prefix, m.IntN(4)), namespace)
		if ref := o.body["roleRef"].(content); m.chance(0.1) {
			ref[one(m, "kind", "name", "apiGroup")] = one(m, "", "Nope", "Role", "ClusterRole", "a/b", "apps")
		}
	}
	name := pair.Get(o.body, "metadata", "name").(string)
	q := pair.Request{Method: one(m, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodPatch), Path: o.path, Body: o.body}
	query := "?dryRun=All"
	if q.Method != http.MethodPost {
		q.Path += "/" + name
	}
	if q.Method == http.MethodPatch {
		if q.ContentType = one(m, "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"); q.ContentType == "application/apply-patch+yaml" {
			query += "&fieldManager=m&force=true"
		} else if m.chance(0.3) {
			q.Body = content{"metadata": content{"labels": content{"a": "b"}}}
		}
	}
	q.Path += query
	return q
}
