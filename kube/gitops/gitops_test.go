package gitops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/gitops"
)

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2,
"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1",
"ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"1000m"}}}]}}}}`

// applied returns what a server stores once each manager has applied its configuration with force.
func applied(t testing.TB, registry *kube.Registry, configs ...string) any {
	t.Helper()
	var live any
	for i := 0; i < len(configs); i += 2 {
		out, err := registry.Apply(live, []byte(configs[i+1]), kube.WriteOptions{Manager: configs[i], Force: true})
		if err != nil {
			t.Fatal(err)
		}
		live = out.Object
	}
	return live
}

func registry(t testing.TB, definitions ...any) *kube.Registry {
	t.Helper()
	r, err := kube.NewRegistry(kube.Sources{Definitions: definitions})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func with(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// TestDiff compares objects, and prints what an apply by the manager "me" changes.
func TestDiff(t *testing.T) {
	r := registry(t, []byte(widgets))
	widget := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`
	for name, c := range map[string]struct {
		live    any
		desired string
		ignore  []gitops.IgnoreDifferences
		flux    []gitops.IgnoreRule
		want    string
	}{
		"the same, spelled in another way": {
			live: applied(t, r, "me", deployment), desired: with(deployment, `"1000m"`, `1.0`, `{"containerPort":80}`, `{"containerPort":80,"protocol":"TCP"}`),
			want: "Deployment shop/web: no change but ownership\n",
		},
		"nothing": {live: applied(t, r, "me", deployment), desired: deployment, want: "Deployment shop/web: no change\n"},
		"live from a file": {
			live: []byte(deployment), desired: with(deployment, "web:1", "web:2"),
			want: "Deployment shop/web: 1 change, 1 conflict\n  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\"\n" +
				"  ! .spec.template.spec.containers[name=\"web\"].image: conflict with \"before-first-apply\" using apps/v1: apply with force once: " +
				"the owner stands for all who wrote before the first apply\n",
		},
		"changed, added, removed": {
			live: applied(t, r, "me", deployment),
			desired: with(deployment, `"replicas":2`, `"paused":true`, `"image":"web:1"`, `"image":"web:2"`, `"name":"web","namespace"`,
				`"labels":{"a":"b"},"name":"web","namespace"`),
			want: "Deployment shop/web: 4 changes\n  + .metadata.labels: {\"a\":\"b\"}\n  + .spec.paused: true\n  ~ .spec.replicas: 2 -> 1\n" +
				"  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\"\n",
		},
		"conflict": {
			live:    applied(t, r, "me", with(deployment, `"replicas":2,`, ""), "other", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":5}}`),
			desired: deployment,
			want: "Deployment shop/web: 1 change, 1 conflict\n  ~ .spec.replicas: 5 -> 2\n  ! .spec.replicas: conflict with \"other\": apply with force to take it, " +
				"set it to the live value to share it, or remove .spec.replicas from the desired object to leave it to its owner\n",
		},
		"created": {
			desired: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`,
			want:    "ConfigMap a: created, 1 change\n  + .data: {\"k\":\"v\"}\n",
		},
		"unknown fields of a newer server": {
			live: map[string]any{
				"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{"attachRequired": true, "newInNextRelease": true, "newer": map[string]any{"a": int64(1)}},
			},
			desired: `{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"a"},"spec":{"attachRequired":true,"newer":{"a":2}}}`,
			want: "CSIDriver a: 1 change, 1 conflict, 2 unknown fields\n  ~ .spec.newer.a: 1 -> 2\n  ? .spec.newInNextRelease: not in the schema, kept\n" +
				"  ? .spec.newer: not in the schema, kept\n  ! .spec.newer.a: conflict with \"before-first-apply\" using storage.k8s.io/v1: apply with force once: " +
				"the owner stands for all who wrote before the first apply\n",
		},
		"unknown field in an item": {
			live: []byte(with(deployment, `"image":"web:1"`, `"image":"web:1","fresh":{"x":[1]}`)), desired: deployment,
			want: "Deployment shop/web: no change but ownership, 1 unknown field\n  ? .spec.template.spec.containers[name=\"web\"].fresh: not in the schema, kept\n",
		},
		"a value of a wrong type": {
			live: []byte(deployment), desired: with(deployment, `"replicas":2`, `"replicas":"two"`),
			want: "Deployment shop/web: 1 change, 1 conflict\n  ~ .spec.replicas: 2 -> \"two\"\n  ! .spec.replicas: conflict with \"before-first-apply\" using apps/v1: " +
				"apply with force once: the owner stands for all who wrote before the first apply\n  refused: failed to create typed patch object (shop/web; apps/v1, " +
				"Kind=Deployment): .spec.replicas: expected numeric (int or float), got string\n",
		},
		"a kind without schema": {
			live:    []byte(`{"apiVersion":"example.org/v9","kind":"Gizmo","metadata":{"name":"a"},"spec":{"x":1,"list":[1]}}`),
			desired: `{"apiVersion":"example.org/v9","kind":"Gizmo","metadata":{"name":"a"},"spec":{"x":2,"list":[1]}}`,
			want: "Gizmo a: 1 change, 1 conflict, no schema\n  ~ .spec.x: 1 -> 2\n  ! .spec.x: conflict with \"before-first-apply\" using example.org/v9: apply with force once: " +
				"the owner stands for all who wrote before the first apply\n",
		},
		"a secret": {
			live:    applied(t, r, "me", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"djE="}}`),
			desired: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"k":"v2"}}`,
			want:    "Secret a: 1 change\n  ~ .data.k: (hidden) -> (hidden)\n",
		},
		"a default of a definition": {
			live: []byte(widget), desired: widget, want: "Widget a: no change but ownership\n",
		},
		"another version": {
			live: applied(t, r, "me", `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":3,
				"scaleTargetRef":{"kind":"Deployment","name":"web"}}}`),
			desired: `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},"spec":{"maxReplicas":4,"scaleTargetRef":{"kind":"Deployment","name":"web"}}}`,
			want:    "HorizontalPodAutoscaler a: 1 change\n  ~ .spec.maxReplicas: 3 -> 4\n",
		},
		"ignored by pointer": {
			live: applied(t, r, "me", deployment), desired: with(deployment, `"replicas":2`, `"replicas":3`),
			ignore: []gitops.IgnoreDifferences{{Group: "*", Kind: "Deploy*", JSONPointers: []string{"/spec/replicas", "/spec/nothing"}}},
			want:   "Deployment shop/web: no change, 1 ignored\n  ~ .spec.replicas: 2 -> 3 (ignored)\n",
		},
		"ignored by expression": {
			live: applied(t, r, "me", deployment), desired: with(deployment, "web:1", "web:2"),
			ignore: []gitops.IgnoreDifferences{{Group: "apps", Kind: "Deployment", Name: "web", Namespace: "shop",
				JQPathExpressions: []string{`.spec.template.spec.containers[] | select(.name == "web") | .image`}}},
			want: "Deployment shop/web: no change, 1 ignored\n  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\" (ignored)\n",
		},
		"not ignored: another name": {
			live: applied(t, r, "me", deployment), desired: with(deployment, "web:1", "web:2"),
			ignore: []gitops.IgnoreDifferences{{Group: "apps", Kind: "Deployment", Name: "db", JQPathExpressions: []string{`.spec`}}},
			want:   "Deployment shop/web: 1 change\n  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\"\n",
		},
		"ignored by manager": {
			live:    applied(t, r, "me", deployment, "scaler", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":5}}`),
			desired: with(deployment, "web:1", "web:2"),
			ignore:  []gitops.IgnoreDifferences{{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"scaler"}}},
			want: "Deployment shop/web: 1 change, 1 ignored, 1 conflict\n  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\"\n" +
				"  ~ .spec.replicas: 5 -> 2 (ignored)\n  ! .spec.replicas: conflict with \"scaler\": apply with force to take it, set it to the live value to share it, or " +
				"remove .spec.replicas from the desired object to leave it to its owner\n",
		},
		"a new label is ignored with its map": {
			live: applied(t, r, "me", deployment), desired: with(deployment, `"name":"web","namespace"`, `"labels":{"a":"b"},"name":"web","namespace"`),
			flux: []gitops.IgnoreRule{{Paths: []string{"/metadata/labels/a"}, Selector: &gitops.Selector{Kind: "Deploy.*", LabelSelector: "a=b"}}},
			want: "Deployment shop/web: no change but ownership, 1 ignored\n  + .metadata.labels: {\"a\":\"b\"} (ignored)\n",
		},
		"excluded": {
			live: applied(t, r, "me", deployment), desired: with(deployment, "web:1", "web:2"), flux: []gitops.IgnoreRule{{Paths: []string{""}}},
			want: "Deployment shop/web: excluded, 1 change\n  ~ .spec.template.spec.containers[name=\"web\"].image: \"web:1\" -> \"web:2\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := gitops.NewRules(c.ignore, c.flux)
			if err != nil {
				t.Fatal(err)
			}
			got, err := gitops.Diff(c.live, []byte(c.desired), r, gitops.Options{Manager: "me", Ignore: rules})
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if changes := len(got.Changes) > 0 && !got.Excluded; changes != got.Modified() {
				t.Errorf("modified is %t", got.Modified())
			}
		})
	}
}

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
"spec":{"group":"example.org","names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},
"color":{"type":"string","default":"blue"}}}}}}}]}}`

func TestErrors(t *testing.T) {
	for name, o := range map[string]struct {
		live, desired any
		manager       string
	}{
		"no manager":         {nil, []byte(deployment), ""},
		"no kind":            {nil, map[string]any{"apiVersion": "v1"}, "me"},
		"nothing":            {nil, nil, "me"},
		"no object":          {nil, 7, "me"},
		"no live object":     {7, []byte(deployment), "me"},
		"no managed fields":  {[]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[{"operation":"No"}]}}`), []byte(deployment), "me"},
		"no JSON in a float": {nil, map[string]any{"kind": "A", "x": func() {}}, "me"},
	} {
		if r, err := gitops.Diff(o.live, o.desired, nil, gitops.Options{Manager: o.manager}); err == nil {
			t.Errorf("%s: %v", name, r)
		}
	}
	_, err := gitops.NewRules([]gitops.IgnoreDifferences{
		{JSONPointers: []string{"spec"}}, {JQPathExpressions: []string{".a | length"}}, {Kind: "[z-a]"}, {JQPathExpressions: []string{`.a | select(.b | test("("))`}},
		{Kind: "[a-cX]"}, {Kind: "[]D]"}, {Kind: "[a"}, {Kind: "{a,b"},
	}, []gitops.IgnoreRule{{Selector: &gitops.Selector{Name: "("}}, {Selector: &gitops.Selector{LabelSelector: "a in"}}, {Paths: []string{"x"}}})
	if err == nil || strings.Count(err.Error(), "ignoreDifferences[") != 8 || strings.Count(err.Error(), "rule ") != 3 {
		t.Errorf("rules: %v", err)
	}
}

// TestSelectors matches the patterns of Argo CD.
func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		kind string
		want bool
	}{{"Deployment", true}, {"*", true}, {"Deploy*", true}, {"?eployment", true}, {"[A-D]eployment", true}, {"[!D]eployment", false}, {"{Pod,Deployment}", true},
		{"deployment", false}, {"", false}, {`Deployment\*`, false}, {`Deployment\`, true}, {"[*D-]eployment", true},
		{`[\]D]eployment`, true}} {
		rules, err := gitops.NewRules([]gitops.IgnoreDifferences{{Group: "a*", Kind: c.kind, JSONPointers: []string{"/spec"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		left, err := rules.Without([]byte(deployment))
		if err != nil || left.Content.Get("spec").IsAbsent() != c.want {
			t.Errorf("%q removes: %t, %v", c.kind, !c.want, err)
		}
	}
}

// TestExpressions removes what path expressions lead to. A comma binds closer than a pipe.
func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		".a, .b | .c":                        `{"a":{"d":2},"b":{},"list":["xy",{"c":5}]}`,
		".a | .c, .d":                        `{"a":{},"b":{"c":3},"list":["xy",{"c":5}]}`,
		`.a, .b, .list[1] | select(.c != 3)`: `{"b":{"c":3},"list":["xy"]}`,
		`.list[], .list[0]`:                  `{"a":{"c":1,"d":2},"b":{"c":3},"list":[]}`,
		`select(.list[0][1] == "y") | .a`:    `{"b":{"c":3},"list":["xy",{"c":5}]}`,
		`.list[0][1], .a`:                    `{"a":{"c":1,"d":2},"b":{"c":3},"list":["xy",{"c":5}]}`,
		`.list[0][5].c, .a`:                  `{"a":{"c":1,"d":2},"b":{"c":3},"list":["xy",{"c":5}]}`,
		`.x.y.z, .a`:                         `{"b":{"c":3},"list":["xy",{"c":5}]}`,
		`.list[0], .list[-2], .list[-9]`:     `{"a":{"c":1,"d":2},"b":{"c":3},"list":[{"c":5}]}`,
	} {
		rules, err := gitops.NewRules([]gitops.IgnoreDifferences{{Group: "*", Kind: "*", JQPathExpressions: []string{expression}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		left, err := rules.Without([]byte(`{"a":{"c":1,"d":2},"b":{"c":3},"list":["xy",{"c":5}]}`))
		if got := string(left.Content.AppendJSON(nil)); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", expression, got, err, want)
		}
	}
	for _, expression := range []string{`select(.a | startswith("x") | endswith("y"))`, strings.Repeat(".a", 1<<20), "select(" + strings.Repeat("(", 1<<20)} {
		if _, err := gitops.NewRules([]gitops.IgnoreDifferences{{JQPathExpressions: []string{expression}}}, nil); err == nil {
			t.Errorf("%.50s is no error", expression)
		}
	}
}

// TestRemovals removes the fields of several rules in their order: an expression sees what a pointer of a later rule removes.
func TestRemovals(t *testing.T) {
	rules, err := gitops.NewRules([]gitops.IgnoreDifferences{
		{Group: "*", Kind: "*", JQPathExpressions: []string{`.list[] | select(.name == "a") | .image`}},
		{Group: "*", Kind: "*", JSONPointers: []string{"/list/0/name"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	left, err := rules.Without([]byte(`{"list":[{"name":"a","image":"x","tag":1}]}`))
	if got := string(left.Content.AppendJSON(nil)); err != nil || got != `{"list":[{"tag":1}]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestRemovalCost removes as many values as an object can hold, by expressions whose cost would be a square, or grow exponentially.
func TestRemovalCost(t *testing.T) {
	const size = 30000
	members, changed := map[string]any{}, map[string]any{}
	for i := range size {
		name := fmt.Sprintf("k%d", i)
		members[name], changed[name] = "a", "b"
	}
	object := func(data any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": data}
	}
	rules, err := gitops.NewRules([]gitops.IgnoreDifferences{{Group: "*", Kind: "*", JQPathExpressions: []string{
		".data | .x, .y" + strings.Repeat(" | .x, .y", 60), strings.Repeat(". , . | ", 60) + ".x",
		"select(.data[] and .data[] and .data[] and (.data[] == null)) | .data", ".data[]", ".list[]",
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]any{"data": members, "list": slices.Repeat([]any{int64(1)}, size)}
	if left, err := rules.Without(list); err != nil || left.Content.Get("list").Len() != 0 || left.Content.Get("data").Len() != 0 {
		t.Errorf("%.200v, %v", left.Content, err)
	}
	one, err := gitops.NewRules([]gitops.IgnoreDifferences{{Group: "*", Kind: "*", JSONPointers: []string{"/data/k1"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gitops.Diff(object(members), object(changed), nil, gitops.Options{Manager: "me", Ignore: one})
	if err != nil || len(r.Changes) != size-1 || len(r.Ignored) != 1 {
		t.Errorf("%.200v, %v", r, err)
	}
}

// TestPointers removes what JSON pointers lead to.
func TestPointers(t *testing.T) {
	for pointer, want := range map[string]string{
		"/a": `{"b":[1,{"c":2},3],"d/e":4}`, "/b/0": `{"a":0,"b":[{"c":2},3],"d/e":4}`, "/b/-1": `{"a":0,"b":[1,{"c":2}],"d/e":4}`,
		"/b/1/c": `{"a":0,"b":[1,{},3],"d/e":4}`, "/d~1e": `{"a":0,"b":[1,{"c":2},3]}`, "/b/3": `{"a":0,"b":[1,{"c":2},3],"d/e":4}`,
		"/b/x": `{"a":0,"b":[1,{"c":2},3],"d/e":4}`, "/a/x": `{"a":0,"b":[1,{"c":2},3],"d/e":4}`,
	} {
		rules, err := gitops.NewRules(nil, []gitops.IgnoreRule{{Paths: []string{pointer}}})
		if err != nil {
			t.Fatal(err)
		}
		left, err := rules.Without([]byte(`{"a":0,"b":[1,{"c":2},3],"d/e":4}`))
		if got := string(left.Content.AppendJSON(nil)); err != nil || got != want {
			t.Errorf("%s: %s, %v", pointer, got, err)
		}
	}
}
