// Package webhooks has what is particular to configurations of admission webhooks: their validation, and warnings.
package webhooks

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Group is the group of the configurations.
const Group = "admissionregistration.k8s.io"

// Resources lists the resources of the configurations.
var Resources = []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}

// IsConfiguration reports whether a resource has configurations of webhooks.
func IsConfiguration(group, resource string) bool {
	return group == Group && slices.Contains(Resources, resource)
}

// form is the form of configurations: that of the kind, with the validation of webhooks.
//
// It must not be an IncrementalForm: the methods below have to be called.
type form struct{ catalog.Form }

// ValidateCreate returns what is wrong with a new configuration.
func (f form) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	return append(f.Form.ValidateCreate(ctx, object, w), webhook.Validate(object, value.Value{})...)
}

// ValidateUpdate returns what is wrong with a configuration in the place of live.
func (f form) ValidateUpdate(
	ctx context.Context, object, live value.Value, subresource string, w *api.Warnings,
) field.ErrorList {
	return append(f.Form.ValidateUpdate(ctx, object, live, subresource, w), webhook.Validate(object, live)...)
}

// WithEmpties returns object with the empty lists and maps of sent.
func (f form) WithEmpties(object, sent, live value.Value, subresource string) value.Value {
	if holding, ok := f.Form.(catalog.HoldingForm); ok {
		return holding.WithEmpties(object, sent, live, subresource)
	}
	return object
}

// Print returns object as its Go type prints it.
func (f form) Print(object value.Value) (value.Value, error) {
	if printing, ok := f.Form.(catalog.PrintingForm); ok {
		return printing.Print(object)
	}
	return object, nil
}

// Install makes the resources of configurations among resources validate webhooks.
//
// It is called before the resources are served.
func Install(resources []*catalog.Resource) {
	for _, r := range resources {
		if IsConfiguration(r.Group, r.Plural) {
			for _, v := range r.Versions {
				v.Form = form{v.Form}
			}
		}
	}
}

// Advice returns the warnings of the current release of Kubernetes for a configuration: see [webhook.Advice].
func Advice(configuration value.Value) []string {
	return webhook.Advice(configuration, builtin.CurrentMinor)
}

// Advise returns an admission plugin that warns of configurations whose webhooks cannot work as they are configured, as a minor release of
// Kubernetes does.
func Advise(minor int) func(context.Context, *admission.Request) error {
	return func(_ context.Context, r *admission.Request) error {
		if IsConfiguration(r.Resource.Group, r.Resource.Resource) && !r.Object.IsAbsent() {
			r.Warn(webhook.Advice(r.Object.Content(), minor)...)
		}
		return nil
	}
}
