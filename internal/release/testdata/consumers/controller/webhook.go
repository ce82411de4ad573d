package controller

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// rules are the defaulter and the validator of Widgets.
type rules struct{}

// Default paints a Widget that has no color.
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

// ValidateUpdate refuses blue.
func (r rules) ValidateUpdate(ctx context.Context, _, w *Widget) (admission.Warnings, error) {
	return r.ValidateCreate(ctx, w)
}

// ValidateDelete allows every deletion.
func (rules) ValidateDelete(context.Context, *Widget) (admission.Warnings, error) { return nil, nil }

// webhooks serves the webhooks that config/webhook declares.
func webhooks(s *runtime.Scheme) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mutate-example-org-v1-widget", admission.WithDefaulter(s, rules{}))
	mux.Handle("/validate-example-org-v1-widget", admission.WithValidator(s, rules{}))
	return mux
}
