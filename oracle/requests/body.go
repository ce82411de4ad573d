package main

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/deed-project/deed/oracle/pair"
)

const (
	applyPatch     = "application/apply-patch+yaml"
	strategicPatch = "application/strategic-merge-patch+json"
	mergePatch     = "application/merge-patch+json"
	jsonPatch      = "application/json-patch+json"
)

// body returns the body of a write, and its type.
func (m *maker) body(k collection, q request) (body any, contentType string) {
	name := one(m, names[:]...)
	if q.Method == http.MethodPost {
		name = fmt.Sprint("extra-", m.IntN(9))
	}
	var document any = m.object(k, name, m.IntN(4))
	switch q.Method {
	case http.MethodPatch:
		contentType = one(m, applyPatch, strategicPatch, mergePatch, jsonPatch)
		switch contentType {
		case strategicPatch, mergePatch:
			document = one[any](m,
				map[string]any{"metadata": map[string]any{"labels": map[string]any{"p": one[any](m, "1", "2", nil)}}},
				map[string]any{"metadata": map[string]any{"annotations": map[string]any{"p": one[any](m, "1", 2, nil)}}},
				map[string]any{"metadata": map[string]any{"resourceVersion": one(m, "1", "$NOW", "x")}},
				map[string]any{}, map[string]any{"spec": nil}, map[string]any{"$patch": "delete"}, map[string]any{"nope": 1},
				map[string]any{"metadata": map[string]any{"name": "other"}}, map[string]any{"kind": "Other"}, []any{}, "x", nil, 1,
				map[string]any{"spec": m.spec()}, map[string]any{"spec": m.spec(), "status": m.status()}, map[string]any{"status": m.status()},
				map[string]any{"metadata": map[string]any{"$retainKeys": []any{"labels"}}},
				map[string]any{"metadata": map[string]any{"finalizers": []any{"a.example.org/b"}}},
				map[string]any{"metadata": map[string]any{"$deleteFromPrimitiveList/finalizers": []any{"a.example.org/b"}}})
		case jsonPatch:
			document = one[any](m,
				[]any{map[string]any{"op": "add", "path": "/metadata/labels/p", "value": one[any](m, "1", "2", 3)}},
				[]any{map[string]any{"op": one(m, "test", "replace"), "path": "/metadata/labels/app", "value": "x"}},
				[]any{map[string]any{"op": "remove", "path": one(m, "/metadata/labels/n", "/metadata/labels", "/nope", "/metadata", "")}},
				[]any{map[string]any{"op": one(m, "move", "copy"), "from": "/metadata/labels/app", "path": "/metadata/labels/q"}},
				[]any{map[string]any{"op": "nope", "path": "/metadata"}}, []any{map[string]any{"path": "/metadata"}}, []any{},
				map[string]any{}, "x", nil, []any{1},
				[]any{map[string]any{"op": "add", "path": "metadata"}},
				[]any{map[string]any{"op": "add", "path": "/metadata/labels/a~1b", "value": "1"}},
				[]any{map[string]any{"op": "add", "path": "/metadata/labels/z"}}, []any{map[string]any{"op": "replace", "path": "", "value": map[string]any{}}})
		}
	case http.MethodDelete:
		document = m.deleteOptions()
	default:
		contentType = "application/json"
	}
	if m.chance(0.1) {
		contentType = one(m, "application/json", "application/json; charset=utf-8", "application/yaml", "text/plain", pair.NoContentType, "garbage", "application/cbor",
			"application/vnd.kubernetes.protobuf", "application/x-www-form-urlencoded", applyPatch, mergePatch, "application/apply-patch+cbor", "*/*", "application/*")
	}
	if object, ok := document.(map[string]any); ok && m.chance(0.15) {
		document = m.wrong(object)
	}
	text := []byte(pair.Text(document))
	if m.chance(0.25) {
		text = m.appendShuffled(nil, m.withUnknown(document), one(m, 0, 0, 0.05))
	}
	switch {
	case m.chance(0.9):
	case m.chance(0.3) && len(text) > 0:
		text = text[:m.IntN(len(text))]
	default:
		text = []byte(one(m, "", "{", "null", "[]", "{}", `"x"`, "1", "x: 1", "x: [", "{}{}", "{} x", `{"a":1,"a":2}`, "\x00", "\xff\xfe", `{"a":"\xff"}`, "---\na: 1\n---\nb: 2\n", " ", "\n",
			`{"apiVersion":"v1","kind":"Status"}`, `{"apiVersion":"v1","kind":"List","items":[]}`, `{"kind":"DeleteOptions","apiVersion":"v1"}`, "!!binary x", "a: &a [*a]"))
	}
	if q.Method == http.MethodDelete && m.chance(0.6) {
		return nil, contentType
	}
	return text, contentType
}

// spec returns a part of the spec of a custom resource. Other kinds have some of its fields, too.
func (m *maker) spec() map[string]any {
	return map[string]any{one(m, "color", "replicas", "port", "built", "parts", "free", "nope"): one[any](m,
		"blue", "", 3, -1, 1.5, 100, true, nil, "2024-01-01T00:00:00Z", []any{}, map[string]any{"x": nil}, map[string]any{},
		[]any{map[string]any{"name": "b", "nope": 1}}, []any{map[string]any{"name": "b"}, map[string]any{"name": "b"}}, []any{nil})}
}

func (m *maker) status() map[string]any {
	return map[string]any{one(m, "replicas", "selector", "phase", "nope"): one[any](m, 2, "a=b", "", nil, 1.5, map[string]any{})}
}

// wrong returns an object with something wrong in what all objects have. It adds no items: a kube-apiserver then takes a custom resource for a
// list, see docs/reference-faults.md.
func (m *maker) wrong(object map[string]any) map[string]any {
	paths := [][]any{
		{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "generateName"}, {"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"}, {"metadata", "labels"},
		{"metadata", "annotations"},
		{"metadata", "finalizers"}, {"metadata", "ownerReferences"}, {"metadata", "managedFields"}, {"metadata"}, {"spec"}, {"status"},
		{"nope"}, {"metadata", "nope"},
		{"metadata", "selfLink"}, {"metadata", "deletionGracePeriodSeconds"}, {"metadata", "clusterName"},
	}
	p := one(m, paths...)
	values := []any{nil, "x", "", 1, -1, true, []any{}, map[string]any{}, []any{"x"}, map[string]any{"x": "y"}, map[string]any{"x": 1}, "v1", "2024-01-01T00:00:00Z", 1.5}
	if slices.Contains([]any{"generateName"}, p[len(p)-1]) {
		values = []any{nil, 1, "", []any{}, "A_", "-"} // no value gives a random name
	}
	if p[0] == "spec" {
		values = append(values, m.spec(), m.spec(), m.spec())
	}
	if p[len(p)-1] == "resourceVersion" {
		values = append(values, "$NOW", "$NOW", "$AT"+m.step())
	}
	return pair.Put(object, p, pair.Edit{Path: p, Value: one(m, values...), Remove: m.chance(0.15)}).(map[string]any)
}

// deleteOptions returns the body of a deletion.
func (m *maker) deleteOptions() map[string]any {
	out := map[string]any{"apiVersion": one(m, "v1", "v1", "meta.k8s.io/v1", "apps/v1", "nope/v1"), "kind": one(m, "DeleteOptions", "DeleteOptions", "DeleteOptions", "Pod")}
	for range m.IntN(3) {
		switch m.IntN(6) {
		case 0:
			out["gracePeriodSeconds"] = one[any](m, 0, 1, -1, nil, "x")
		case 1:
			out["propagationPolicy"] = one[any](m, "Background", "Foreground", "Orphan", "Nope", nil, 1)
		case 2:
			out["orphanDependents"] = one[any](m, true, false, nil, "x")
		case 3:
			out["preconditions"] = one[any](m, map[string]any{"uid": "x"}, map[string]any{"resourceVersion": one(m, "1", "$NOW", "x")}, map[string]any{}, nil)
		case 4:
			out["dryRun"] = one[any](m, []any{"All"}, []any{}, []any{"Some"}, "All", nil, []any{"All", "All"})
		case 5:
			out["nope"] = 1
		}
	}
	return out
}
