package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	reviewv1beta1 "k8s.io/api/admission/v1beta1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	remote "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// maxAnswer is how long the body of an answer may be. kube-apiserver knows no limit; what an answer may say takes far less.
const maxAnswer = 64 << 20

// newClient returns what calls hooks: the library of kube-apiserver, which keeps connections, and whose errors are what users know.
// credentials is a file in the form of a kubeconfig that says by what webhooks know the caller; it may be empty.
func newClient(credentials string, services remote.ServiceResolver) (*remote.ClientManager, error) {
	m, err := remote.NewClientManager(
		[]kschema.GroupVersion{reviewv1beta1.SchemeGroupVersion, reviewv1.SchemeGroupVersion},
		reviewv1beta1.AddToScheme, reviewv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	resolver, err := remote.NewDefaultAuthenticationInfoResolver(credentials)
	if err != nil {
		return nil, err
	}
	m.SetAuthenticationInfoResolver(&remote.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return limited(resolver.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return limited(resolver.ClientConfigForService(name, namespace, port))
		},
	})
	m.SetServiceResolver(services)
	return &m, m.Validate()
}

func limited(c *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return limit{next} })
	return c, nil
}

// limit ends answers that are too long with an error.
type limit struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (l limit) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &limitedBody{answer.Body, maxAnswer}
	return answer, nil
}

// limitedBody is a body of which at most left bytes may be read yet.
type limitedBody struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("the answer is longer than 64 MiB")

// Read reads.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLong
	}
	return n, err
}

// ask sends a review to a hook and reads the answer into it.
func (p *Hooks) ask(ctx context.Context, h *Hook, r *review) error {
	client, err := p.client.HookClient(h.client)
	if err != nil {
		return h.failed("could not get REST client: %w", err)
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
	if err := request.Do(ctx).Into(r.answer); err != nil {
		return h.failed("failed to call webhook: %w", err)
	}
	return nil
}

// wholeSeconds rounds up to whole seconds.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
