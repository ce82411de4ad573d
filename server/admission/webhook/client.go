package webhook

import (
	"context"
	"net/http"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	reviewv1beta1 "k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/server/hookclient"
)

// newClient returns a client that calls hooks. credentials is a file in the format of a kubeconfig with the credentials for webhooks; it
// may be empty.
//
// The manager caches the clients.
func newClient(credentials string, services remote.ServiceResolver) (*remote.ClientManager, error) {
	return hookclient.New(hookclient.Config{
		Versions: []kschema.GroupVersion{reviewv1beta1.SchemeGroupVersion, reviewv1.SchemeGroupVersion},
		Add:      []func(*runtime.Scheme) error{reviewv1beta1.AddToScheme, reviewv1.AddToScheme},
		Services: services, Credentials: credentials,
	})
}

// ask sends a review to a hook and decodes the response into it.
//
// The timeout of the hook bounds the call, and so does what is left of the request's own deadline. The hook learns of the bound from the
// query, in whole seconds. Errors are callErrors.
func (p *Hooks) ask(ctx context.Context, h *Hook, r *review) error {
	client, err := p.client.HookClient(h.client)
	if err != nil {
		return h.failed(http.StatusInternalServerError, "could not get REST client: %w", err)
	}
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	request := client.Post().Body(r.question)
	if deadline, limited := ctx.Deadline(); limited {
		if left := time.Until(deadline); left > 0 {
			request.Timeout(wholeSeconds(left))
		}
	}
	if err := request.Do(hookclient.Quiet(ctx)).Into(r.answer); err != nil {
		code := http.StatusServiceUnavailable
		if status, ok := err.(errors.APIStatus); ok {
			code = int(status.Status().Code)
		}
		return h.failed(code, "failed to call webhook: %w", err)
	}
	return nil
}

// wholeSeconds rounds a duration up to whole seconds.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
