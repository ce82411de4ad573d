package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/deed-project/deed/server/apitest"
)

// manifests are the configurations from controller-gen for a defaulter and a validator of Widgets.
const manifests = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating-webhook-configuration}
webhooks:
- admissionReviewVersions: [v1]
  clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-example-org-v1-widget}}
  failurePolicy: Fail
  name: mwidget-v1.kb.io
  rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}]
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
- admissionReviewVersions: [v1]
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate-example-org-v1-widget}}
  failurePolicy: Fail
  name: vwidget-v1.kb.io
  rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [widgets]}]
  sideEffects: None
`

// rules implements the defaulter and the validator of Widgets.
type rules struct{}

// Default sets a missing color.
func (rules) Default(_ context.Context, w *Widget) error {
	if w.Spec.Color == "" {
		w.Spec.Color = "red"
	}
	return nil
}

// ValidateCreate refuses blue.
func (rules) ValidateCreate(_ context.Context, w *Widget) (admission.Warnings, error) {
	if w.Spec.Color == "blue" {
		return nil, errors.New("not blue")
	}
	return nil, nil
}

// ValidateUpdate refuses blue, and warns about a changed number of replicas.
func (r rules) ValidateUpdate(ctx context.Context, old, w *Widget) (admission.Warnings, error) {
	_, err := r.ValidateCreate(ctx, w)
	if *old.Spec.Replicas != *w.Spec.Replicas {
		return admission.Warnings{fmt.Sprint("it had ", *old.Spec.Replicas)}, err
	}
	return nil, err
}

// ValidateDelete refuses to delete a Widget that is marked as kept.
func (rules) ValidateDelete(_ context.Context, w *Widget) (admission.Warnings, error) {
	if w.Labels["keep"] != "" {
		return nil, errors.New("it is kept")
	}
	return nil, nil
}

// warnings collects the warnings of answers.
type warnings struct{ texts []string }

// HandleWarningHeader adds one warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// TestBuiltWebhooks runs the defaulter and the validator of controller-runtime's builder in the test's process.
func TestBuiltWebhooks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "manifests.yaml"), []byte(manifests), 0o600))
	mux := http.NewServeMux()
	s, _ := start(t, apitest.Webhooks(folder, mux))
	m := newManager(t, s, manager.Options{WebhookServer: webhook.NewServer(webhook.Options{Port: -1, WebhookMux: mux})})
	check(t, builder.WebhookManagedBy(m, &Widget{}).WithDefaulter(rules{}).WithValidator(rules{}).Complete())

	heard := &warnings{}
	config := rest.CopyConfig(s.RESTConfig())
	config.WarningHandler = heard
	c, err := client.New(config, client.Options{Scheme: scheme})
	check(t, err)
	ctx := t.Context()
	web := newWidget("web", "", 1)
	check(t, c.Create(ctx, web))
	if web.Spec.Color != "red" {
		t.Errorf("it is %s, want red", web.Spec.Color)
	}
	refused := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	const denied = `admission webhook "vwidget-v1.kb.io" denied the request: `
	refused("a blue one", denied+"not blue", c.Create(ctx, newWidget("blue", "blue", 1)))
	web.Spec.Color = "blue"
	refused("blue", denied+"not blue", c.Update(ctx, web))
	err = c.Apply(ctx, applied("web", &WidgetSpec{Color: "blue"}), client.FieldOwner("a"), client.ForceOwnership)
	refused("blue by an apply", denied+"not blue", err)
	check(t, c.Get(ctx, client.ObjectKeyFromObject(web), web))
	heard.texts = nil
	*web.Spec.Replicas, web.Labels = 2, map[string]string{"keep": "yes"}
	check(t, c.Update(ctx, web))
	if got := strings.Join(heard.texts, ","); got != "it had 1" {
		t.Errorf("warned of %q", got)
	}
	refused("a delete", denied+"it is kept", c.Delete(ctx, web))
	refused("all of them", denied+"it is kept", c.DeleteAllOf(ctx, &Widget{}, client.InNamespace("default")))
	check(t, c.Create(ctx, newWidget("dry", "", 1), client.DryRunAll))
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "dry"}, &Widget{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a dry run stored something: %v", err)
	}
}
