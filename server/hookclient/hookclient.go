// Package hookclient makes clients for admission and conversion webhooks.
//
// The clients are those of kube-apiserver's library, which keeps connections open, and whose error texts users know. This package bounds
// the length of an answer.
package hookclient

import (
	"context"
	"errors"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	remote "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// maxAnswer bounds the body of an answer. kube-apiserver has no bound; valid answers are far smaller.
const maxAnswer = 64 << 20

// Config says how to reach webhooks, and what they receive.
type Config struct {
	// Versions are the versions of requests and answers, and Add adds their types to a scheme.
	Versions []kschema.GroupVersion
	Add      []func(*runtime.Scheme) error
	// Services resolves services.
	Services remote.ServiceResolver
	// Credentials is a file in the format of a kubeconfig with the credentials for webhooks; it may be empty.
	Credentials string
}

// New returns a manager of clients. It fails if the credentials are invalid.
func New(c Config) (*remote.ClientManager, error) {
	m, err := remote.NewClientManager(c.Versions, c.Add...)
	if err != nil {
		return nil, err
	}
	resolver, err := remote.NewDefaultAuthenticationInfoResolver(c.Credentials)
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
	m.SetServiceResolver(c.Services)
	return &m, m.Validate()
}

func limited(c *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return limit{next} })
	return c, nil
}

// Quiet returns ctx with a silent logger for the library. At klog verbosity 8, which is a setting of the whole process, the library would
// log requests and answers.
func Quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// limit makes an answer that is too long an error.
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

// limitedBody is a body that fails after left bytes.
type limitedBody struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("the answer is longer than 64 MiB")

// Read reads from the body.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLong
	}
	return n, err
}
