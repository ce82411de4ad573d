package policy_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/policy"
	"github.com/deed-project/deed/value"
)

// scope is the Scope of a Deployment that has one version.
type scope struct{ admission.Scope }

// Equivalents returns none.
func (scope) Equivalents() []admission.Endpoint { return nil }

// Served returns the scope.
func (s scope) Served() any { return s }

// Options returns those of an update.
func (scope) Options() value.Value {
	return value.Object(value.Member{Name: "kind", Value: value.String("UpdateOptions")})
}

// Convert returns the object.
func (scope) Convert(object value.Value, from, to admission.Endpoint) (value.Value, error) {
	return object, nil
}

// New returns an empty Deployment.
func (scope) New(admission.Endpoint) any { return &appsv1.Deployment{} }

// BenchmarkValidate measures a write that meets twenty policies for other resources or for other labels, one with two expressions that holds
// for it, or none.
func BenchmarkValidate(b *testing.B) {
	const elsewhere = `"resourceRules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["jobs", "cronjobs"]}]`
	const here = `"resourceRules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}]`
	b.Run("none", func(b *testing.B) { benchmarkValidate(b, 0, "") })
	b.Run("1 for other resources", func(b *testing.B) { benchmarkValidate(b, 1, elsewhere) })
	b.Run("20 for other resources", func(b *testing.B) { benchmarkValidate(b, 20, elsewhere) })
	b.Run("1 for other labels", func(b *testing.B) {
		benchmarkValidate(b, 1, here+`, "objectSelector": {"matchLabels": {"checked": "yes"}}`)
	})
	b.Run("20 for other labels", func(b *testing.B) {
		benchmarkValidate(b, 20, here+`, "objectSelector": {"matchLabels": {"checked": "yes"}}`)
	})
	b.Run("1 with two expressions", func(b *testing.B) { benchmarkValidate(b, 1, here) })
}

func benchmarkValidate(b *testing.B, policies int, constraints string) {
	p := policy.New(policy.Config{
		Namespace: func(context.Context, string) (value.Value, error) { return value.Value{}, nil },
		Params:    func(kschema.GroupVersionKind) policy.Params { return nil },
		Authorize: func(context.Context, admission.User, expressions.Action) (bool, string) { return true, "" },
	})
	var stored []value.Value
	for i := range policies {
		stored = append(stored, parse(b, fmt.Sprintf(`{"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p%d"}, "spec": {"matchConstraints": {%s},
			"validations": [{"expression": "object.spec.replicas <= 5"},
			{"expression": "object.spec.template.spec.containers.all(c, has(c.image) && !c.image.endsWith(':latest'))"}]}}`, i, constraints)),
			parse(b, fmt.Sprintf(`{"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b%d"},
			"spec": {"policyName": "p%d", "validationActions": ["Deny"]}}`, i, i)))
	}
	if err := p.Use(stored); err != nil {
		b.Fatal(err)
	}
	object, err := managedfields.ParseObject([]byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default",
		"labels": {"app": "web"}, "uid": "6f4dfd4e-1c76-4b5e-9d3f-6b1d0e3d9a11", "generation": 3, "managedFields": [{"manager": "m", "operation": "Apply",
		"apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
		"spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
		{"name": "web", "image": "nginx:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}, "ports": [{"containerPort": 80, "protocol": "TCP"}]},
		{"name": "side", "image": "proxy:2", "resources": {}}]}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	at := admission.Endpoint{
		Resource: kschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		Kind:     kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
	}
	b.ReportAllocs()
	for b.Loop() {
		q := &admission.Request{
			Operation: admission.Update, Endpoint: at, Namespace: "default", Name: "d", Scope: scope{},
			User:   admission.User{Name: "admin", Groups: []string{"system:masters"}},
			Object: admission.ObjectOf(object), Old: admission.ObjectOf(object),
		}
		if err := p.Mutate(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		if err := p.Validate(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
