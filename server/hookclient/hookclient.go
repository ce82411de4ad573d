// Package hookclient makes clients of webhooks: of those that are asked about writes, and of those that convert objects.
//
// They are those of kube-apiserver's library, which keeps connections, and whose errors are what users know; an answer that does not
// end is cut off.
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

// maxAnswer is how long the body of an answer may be. kube-apiserver knows no limit; what an answer may say takes far less.
const maxAnswer = 64 << 20

// Config says what is sent to webhooks, and how they are reached.
type Config struct {
	// Versions are those that questions and answers have, and Add adds the types of them to a scheme.
	Versions []kschema.GroupVersion
	Add      []func(*runtime.Scheme) error
	// Services says where services are.
	Services remote.ServiceResolver
	// Credentials is a file in the form of a kubeconfig that says by what webhooks know the caller; it may be empty.
	Credentials string
}

// New returns what makes clients. The error is about the credentials.
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

// Quiet returns ctx, in which the library logs nothing. It would log what is sent and answered where the verbosity of klog is 8 or more,
// which is for the whole process to say.
func Quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

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
