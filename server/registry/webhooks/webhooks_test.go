package webhooks_test

import (
	"context"
	"strings"
	"testing"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/value"
)

// kind is a form with an error of its own.
type kind struct{ catalog.Form }

// ValidateCreate returns one error.
func (kind) ValidateCreate(context.Context, value.Value, *api.Warnings) field.ErrorList {
	return field.ErrorList{field.Required(field.NewPath("own"), "")}
}

// ValidateUpdate returns one error.
func (kind) ValidateUpdate(context.Context, value.Value, value.Value, string, *api.Warnings) field.ErrorList {
	return field.ErrorList{field.Required(field.NewPath("own"), "")}
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestInstall validates webhooks of configurations in addition to what their kind does, and of no other resource.
func TestInstall(t *testing.T) {
	object := parse(t, `{"kind":"ValidatingWebhookConfiguration","metadata":{"name":"a"},"webhooks":[{"name":"no-domain"}]}`)
	for _, c := range []struct {
		group, plural string
		want          bool
	}{
		{"admissionregistration.k8s.io", "validatingwebhookconfigurations", true},
		{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", true},
		{"admissionregistration.k8s.io", "validatingadmissionpolicies", false},
		{"g.io", "validatingwebhookconfigurations", false},
	} {
		resource := &catalog.Resource{Group: c.group, Plural: c.plural}
		resource.Versions = []*catalog.Version{{Resource: resource, Name: "v1", Form: kind{}}}
		webhooks.Install([]*catalog.Resource{resource})
		f := resource.Versions[0].Form
		for name, errs := range map[string]field.ErrorList{
			"create": f.ValidateCreate(t.Context(), object, nil),
			"update": f.ValidateUpdate(t.Context(), object, parse(t, `{"kind":"ValidatingWebhookConfiguration","metadata":{"name":"a"}}`), "", nil),
		} {
			text := errs.ToAggregate().Error()
			if !strings.Contains(text, "own: Required") || strings.Contains(text, "webhooks[0]") != c.want {
				t.Errorf("%s of %s.%s: %s", name, c.plural, c.group, text)
			}
		}
		if got := webhooks.IsConfiguration(c.group, c.plural); got != c.want {
			t.Errorf("%s.%s has configurations: %v", c.plural, c.group, got)
		}
	}
}

// TestAdvise warns of configurations that are written, and of nothing else.
func TestAdvise(t *testing.T) {
	const object = `{"kind":"ValidatingWebhookConfiguration","webhooks":[{"name":"a.b.c","rules":[
		{"apiGroups":["authentication.k8s.io"],"apiVersions":["v1"],"operations":["*"],"resources":["tokenreviews"]}]}]}`
	warned := func(group, resource, object string) (texts []string) {
		r := &admission.Request{Warn: func(all ...string) { texts = append(texts, all...) }}
		r.Resource = kschema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
		if object != "" {
			r.Object = admission.DocumentOf(parse(t, object))
		}
		if err := webhooks.Advise(37)(t.Context(), r); err != nil {
			t.Error(err)
		}
		return texts
	}
	want := "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"
	if got := warned(webhooks.Group, "mutatingwebhookconfigurations", object); len(got) != 1 || got[0] != want {
		t.Errorf("the warnings are %q, want %s", got, want)
	}
	if got := warned("g.io", "validatingwebhookconfigurations", object); got != nil {
		t.Errorf("another resource is warned of: %q", got)
	}
	if got := warned(webhooks.Group, "validatingwebhookconfigurations", ""); got != nil {
		t.Errorf("a delete is warned of: %q", got)
	}
}
