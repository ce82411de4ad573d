package conversion

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/server/hookclient"
	"github.com/deed-project/deed/value"
)

// Client calls conversion webhooks. It is safe for concurrent use.
//
// Calls end with the server, and not with the request that needs the conversion.
type Client struct {
	ctx     context.Context
	clients *remote.ClientManager
}

// NewClient returns a client whose calls end with ctx. services resolves the services that definitions name.
func NewClient(ctx context.Context, services remote.ServiceResolver) (*Client, error) {
	clients, err := hookclient.New(hookclient.Config{
		Versions: []kschema.GroupVersion{apiextensionsv1.SchemeGroupVersion, apiextensionsv1beta1.SchemeGroupVersion},
		Add:      []func(*runtime.Scheme) error{apiextensionsv1beta1.AddToScheme, apiextensionsv1.AddToScheme},
		Services: services,
	})
	return &Client{ctx, clients}, err
}

// Webhook converts the objects of one definition. It is safe for concurrent use.
type Webhook struct {
	*Client
	at      remote.ClientConfig
	reviews []string // versions of ConversionReview in the webhook's order of preference
}

// Of returns the webhook of a CustomResourceDefinition of apiextensions.k8s.io/v1 with its defaults, or nil if its strategy is not Webhook.
// It fails if the caBundle is not valid base64.
func (c *Client) Of(definition value.Value) (*Webhook, error) {
	conversion := definition.Get("spec", "conversion")
	if conversion.Get("strategy").Str() != string(apiextensionsv1.WebhookConverter) {
		return nil, nil
	}
	hook := conversion.Get("webhook")
	w := &Webhook{Client: c}
	for v := range hook.Get("conversionReviewVersions").Items() {
		w.reviews = append(w.reviews, v.Str())
	}
	client := hook.Get("clientConfig")
	w.at = remote.ClientConfig{
		Name: "conversion_webhook_for_" + definition.Get("metadata", "name").Str(), URL: client.Get("url").Str(),
	}
	bundle, err := base64.StdEncoding.DecodeString(client.Get("caBundle").Str())
	if err != nil {
		return nil, fmt.Errorf("spec.conversion.webhook.clientConfig.caBundle: %w", err)
	}
	if len(bytes.TrimSpace(bundle)) > 0 {
		w.at.CABundle = bundle
	}
	if s := client.Get("service"); s.Kind() == value.KindObject {
		w.at.Service = &remote.ClientConfigService{
			Name: s.Get("name").Str(), Namespace: s.Get("namespace").Str(), Path: s.Get("path").Str(), Port: int32(s.Get("port").Int()),
		}
	}
	return w, nil
}

// Convert converts objects of one kind to a version, such as example.org/v2. No object may have that version already. It returns the
// objects before the first failure. The error has kube-apiserver's text.
//
// The cost is one call of the webhook with all objects.
func (w *Webhook) Convert(objects []value.Value, apiVersion string) ([]value.Value, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	answers, err := w.ask(objects, apiVersion)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(objects) {
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected %d", kindOf(objects[0]), len(answers), len(objects))
	}
	// The answers are in the order of the objects.
	out := make([]value.Value, 0, len(objects))
	for i, answer := range answers {
		converted, err := parse(answer.Raw)
		if err != nil {
			return out, err
		}
		if converted, err = checked(objects[i], converted, apiVersion); err != nil {
			return out, fmt.Errorf("conversion webhook for %v %w", kindOf(objects[i]), err)
		}
		out = append(out, converted)
	}
	return out, nil
}

// kindOf returns the kind in an object's apiVersion and kind.
func kindOf(object value.Value) kschema.GroupVersionKind {
	return kschema.FromAPIVersionAndKind(object.Get("apiVersion").Str(), object.Get("kind").Str())
}
