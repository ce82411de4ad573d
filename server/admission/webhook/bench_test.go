package webhook_test

import (
	"fmt"
	"net/url"
	"testing"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/value"
)

// endpoints is a Scope of an object that has other versions.
type endpoints struct {
	admission.Scope
	others []admission.Endpoint
}

// Equivalents returns the other versions.
func (e endpoints) Equivalents() []admission.Endpoint { return e.others }

// Served returns the first of the other versions.
func (e endpoints) Served() any { return e.others[0] }

// nowhere is a service resolver that fails.
type nowhere struct{}

// ResolveEndpoint returns an error.
func (nowhere) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("no service %s in %s", name, namespace)
}

// BenchmarkUnmatched measures a write that matches no hook. It uses no configuration, or twenty, half of which mutate. Their rules name
// other resources, which is the common case, or the same resource with a selector that does not match.
func BenchmarkUnmatched(b *testing.B) {
	const elsewhere = `"rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
		"resources": ["deployments", "statefulsets", "deployments/scale"]}]`
	const selected = `"rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}],
		"objectSelector": {"matchLabels": {"inject": "yes"}}`
	b.Run("none", func(b *testing.B) { benchmarkUnmatched(b, 0, "") })
	b.Run("20 for other resources", func(b *testing.B) { benchmarkUnmatched(b, 20, elsewhere) })
	b.Run("20 for other labels", func(b *testing.B) { benchmarkUnmatched(b, 20, selected) })
}

func benchmarkUnmatched(b *testing.B, configurations int, rules string) {
	hooks, err := webhook.New(webhook.Config{Services: nowhere{}, Log: logs.Logger{}})
	if err != nil {
		b.Fatal(err)
	}
	var stored []value.Value
	for i := range configurations {
		c, err := value.Parse([]byte(fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q, "metadata": {"name": "c%d"},
			"webhooks": [{"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"], "matchPolicy": "Equivalent",
			"clientConfig": {"url": "https://127.0.0.1:1/"}, %s}]}`,
			[]string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}[i%2], i, rules)))
		if err != nil {
			b.Fatal(err)
		}
		stored = append(stored, c)
	}
	if err := hooks.Use(nil, stored); err != nil {
		b.Fatal(err)
	}
	object, err := managedfields.ParseObject([]byte(`{"apiVersion": "example.org/v1", "kind": "Widget",
		"metadata": {"name": "w", "namespace": "default", "labels": {"app": "a", "tier": "b"}}, "spec": {"color": "red"}}`))
	if err != nil {
		b.Fatal(err)
	}
	at := func(version string) admission.Endpoint {
		return admission.Endpoint{
			Resource: kschema.GroupVersionResource{Group: "example.org", Version: version, Resource: "widgets"},
			Kind:     kschema.GroupVersionKind{Group: "example.org", Version: version, Kind: "Widget"},
		}
	}
	scope := endpoints{others: []admission.Endpoint{at("v2"), at("v1beta1")}}
	b.ReportAllocs()
	for b.Loop() {
		r := &admission.Request{
			Operation: admission.Update, Endpoint: at("v1"), Namespace: "default", Name: "w", Scope: scope,
			Object: admission.ObjectOf(object), Old: admission.ObjectOf(object),
		}
		if err := hooks.Mutate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		if err := hooks.Validate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
