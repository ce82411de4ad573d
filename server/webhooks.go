package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Webhooks says how a server asks admission webhooks.
type Webhooks struct {
	// Fixed are configurations that hold beside those that are objects of the API, and are asked first.
	Fixed []value.Value
	// Resolve says, by name.namespace, at which address of the form host:port a service is. Services that it does not name are
	// found by their EndpointSlices.
	Resolve map[string]string
	// Credentials is a file in the form of a kubeconfig whose users, named by host:port or service, are what the server is to
	// webhooks. Empty is nobody.
	Credentials string
}

const configurationGroup = "admissionregistration.k8s.io"

var configurationResources = []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}

// newWebhooks returns the plugin that asks webhooks.
func (s *Server) newWebhooks(c Webhooks) (*webhook.Hooks, error) {
	s.resolve = c.Resolve
	return webhook.New(webhook.Config{
		Namespace: func(ctx context.Context, name string) (value.Value, error) {
			return s.storedObject(ctx, s.base[namespacesAt].Key("", name))
		},
		Services: services{s}, Credentials: c.Credentials, Log: s.log,
		Authorize: func(ctx context.Context, u admission.User, a webhook.Action) (bool, string) {
			return s.allows(withUser(ctx, User(u)), Action(a))
		},
	})
}

// fixHooks reads the configurations that hold whatever is stored.
func (s *Server) fixHooks(configurations []value.Value) error {
	for i, c := range configurations {
		v, err := s.versionOf(c)
		if err != nil || v.Group != configurationGroup {
			return fmt.Errorf("admission configuration %d, %s %s, is no configuration of webhooks", i, c.Get("kind").Str(),
				c.Get("metadata", "name").Str())
		}
		complete, _, err := v.Form.Decode(c)
		if err == nil {
			_, err = webhook.Compile(complete)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", v.Kind, c.Get("metadata", "name").Str(), err)
		}
		s.fixed = append(s.fixed, complete)
	}
	return nil
}

// configuresHooks reports whether a request is for configurations of webhooks.
func configuresHooks(r *rest.Request) bool {
	return r.Version.Group == configurationGroup &&
		slices.Contains(configurationResources, r.Version.Plural)
}

// beginHooks begins to ask webhooks. They are not asked about the objects that the server begins with.
func (s *Server) beginHooks() error {
	s.settlingHooks.Lock()
	s.asking = true
	s.settlingHooks.Unlock()
	return s.settleHooks(s.ctx)
}

// settleHooks asks the webhooks of the configurations that are stored, from now on. The cost grows with the number and size of
// all configurations.
func (s *Server) settleHooks(ctx context.Context) error {
	s.settlingHooks.Lock()
	defer s.settlingHooks.Unlock()
	if !s.asking {
		return nil
	}
	var stored []value.Value
	var errs []error
	for _, name := range configurationResources {
		resource := s.catalog.Load().Lookup(configurationGroup, name)
		found, err := s.allOf(ctx, resource)
		stored, errs = append(stored, found...), append(errs, err)
	}
	return errors.Join(append(errs, s.hooks.Use(s.fixed, stored))...)
}

// allOf returns the stored objects of a resource, in the first version that is served.
func (s *Server) allOf(ctx context.Context, resource *catalog.Resource) ([]value.Value, error) {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: resource.Prefix})
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, record := range page.Records {
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		content, err := resource.Versions[0].Form.Load(object.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		out = append(out, content)
	}
	return out, nil
}

// configurationForm is the form of configurations of webhooks: that of the kind, and what is wrong with the webhooks.
type configurationForm struct{ catalog.Form }

// ValidateCreate returns what is wrong with a new configuration.
func (f configurationForm) ValidateCreate(ctx context.Context, object value.Value, w *api.Warnings) field.ErrorList {
	return append(f.Form.ValidateCreate(ctx, object, w), webhook.Validate(object, value.Value{})...)
}

// ValidateUpdate returns what is wrong with a configuration in the place of live.
func (f configurationForm) ValidateUpdate(
	ctx context.Context, object, live value.Value, subresource string, w *api.Warnings,
) field.ErrorList {
	return append(f.Form.ValidateUpdate(ctx, object, live, subresource, w), webhook.Validate(object, live)...)
}

// knowConfigurations lets the resources of configurations validate them.
func knowConfigurations(resources []*catalog.Resource) {
	for _, r := range resources {
		if r.Group == configurationGroup && slices.Contains(configurationResources, r.Plural) {
			for _, v := range r.Versions {
				v.Form = configurationForm{v.Form}
			}
		}
	}
}

// advise warns of configurations of webhooks that do not do what they say. It is a plugin of admission.
func advise(_ context.Context, r *admission.Request) error {
	if r.Resource.Group == configurationGroup && slices.Contains(configurationResources, r.Resource.Resource) && !r.Object.IsAbsent() {
		r.Warn(webhook.Advice(r.Object.Content())...)
	}
	return nil
}
