package cel_test

import (
	"testing"

	celgo "github.com/google/cel-go/cel"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// aboutPods are expressions about the variable object.
var aboutPods = []string{
	"object.a == object.b", "object.a.resources == object.b.resources", "object.a.resources.limits == object.b.resources.limits",
	"[object.a.resources] == [object.b.resources]", "{'x': object.a.resources} == {'x': object.b.resources}", "object.a.resources in [object.b.resources]",
	"object.a.env[0].valueFrom.configMapKeyRef == object.a.env[1].valueFrom.secretKeyRef", "object.a == 1", "1 == object.a", "object.a.env == 'x'",
	"1 in object.a", "1 in object.labels", "object.labels[1] == 1", "object.labels['x']", "object.a.env[0u].name == 'a'", "object.a.env[3].name == 'a'",
	"object.all == [object.a, object.b]", "[object.a, object.b] == object.all", "(object.all + [])[0].resources == object.b.resources",
	"(object.all + object.a)[0].name == 'a'", "object.all.map(c, c.resources)[0] == object.b.resources", "object.all.indexOf(object.b) == 1",
	"object.a.env == [{'name': 'a'}]", "object.labels == {'a': 'b'}", "{'a': 'b'} == object.labels", "object.labels == {1: 2}", "object.a == {'name': 1}",
	"sets.contains(object.all, [object.a])", "object.all.distinct().size() == 2", "string(object.a)", "object.a > 1", "object.a ? 1 : 2",
	"object.all.exists(c, c.?ports.hasValue())", "object.a.size() == object.b.size()", "object.labels.transformMap(k, v, v)", "object.a.ports == []",
}

// TestTyped compares values of Go types with those of the library.
func TestTyped(t *testing.T) {
	env, err := cel.Environment().Env(environment.StoredExpressions)
	if err == nil {
		env, err = env.Extend(celgo.Variable("object", celgo.DynType))
	}
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"labels": {"a": "b"}, "all": [
		{"name": "a", "resources": {"limits": {"memory": "1Gi"}}, "env": [{"name": "a", "valueFrom": {"configMapKeyRef": {"name": "n", "key": "k"}}},
			{"name": "b", "valueFrom": {"secretKeyRef": {"name": "n", "key": "k"}}}]},
		{"name": "b", "resources": {"limits": {"memory": "1073741824"}}}]}`
	document, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	document = document.With("a", document.Get("all").Item(0)).With("b", document.Get("all").Item(1))
	type object struct {
		Labels map[string]string  `json:"labels"`
		All    []corev1.Container `json:"all"`
		A      corev1.Container   `json:"a"`
		B      corev1.Container   `json:"b"`
	}
	var pod object
	if err := structs.Into(document, &pod); err != nil {
		t.Fatal(err)
	}
	for _, expression := range aboutPods {
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", expression, issues.Err())
		}
		program, err := env.Program(ast, celgo.EvalOptions(celgo.OptOptimize, celgo.OptTrackCost))
		if err != nil {
			t.Fatal(err)
		}
		lazy := cel.NewTyped(document, func() (any, error) { return &pod, nil })
		if got, want := outcome(program, lazy), outcome(program, common.SchemalessTypedToVal(&pod)); got != want {
			t.Errorf("%s is\n%+v, want\n%+v", expression, got, want)
		}
	}
}
