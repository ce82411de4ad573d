package apitest

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// Webhooks makes a server ask a handler of the test instead of the webhooks that a file, or the files below a folder, configure:
// config/webhook, for instance. Whatever url or service a configuration names, the handler gets its path; TLS is taken care of.
// Objects that are no configurations of webhooks are passed over. The configurations are objects of the server, and its clients
// may change them.
//
// The handler may be the mux of controller-runtime's webhook server, or any other.
func Webhooks(name string, handler http.Handler) Option {
	return func(o *options) error {
		objects, err := manifest.ReadFiles([]string{name})
		if err != nil {
			return err
		}
		found := false
		for _, object := range objects {
			if strings.HasSuffix(object.Get("kind").Str(), "WebhookConfiguration") {
				o.webhooks = append(o.webhooks, hooked{object, handler})
				found = true
			}
		}
		if !found {
			return fmt.Errorf("%s holds no configuration of webhooks", name)
		}
		return nil
	}
}

// hooked is a configuration, and what is to be asked in place of its webhooks.
type hooked struct {
	configuration value.Value
	handler       http.Handler
}

// serveWebhooks serves the handlers of o, each at a port of its own, and adds the configurations that lead to them to its objects.
func (o *options) serveWebhooks(tb testing.TB) error {
	for _, h := range o.webhooks {
		certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
		if err != nil {
			return err
		}
		s := httptest.NewUnstartedServer(h.handler)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // the server says what went wrong
		s.StartTLS()
		tb.Cleanup(s.Close)
		o.objects = append(o.objects, redirected(h.configuration, s.URL, trusted))
	}
	return nil
}

// redirected returns a configuration whose webhooks are below url, which has a certificate that trusted vouches for.
func redirected(configuration value.Value, url string, trusted []byte) value.Value {
	var hooks []value.Value
	for hook := range configuration.Get("webhooks").Items() {
		client := hook.Get("clientConfig")
		path := client.At("service", "path").Str()
		if address := client.Get("url").Str(); address != "" {
			_, path, _ = strings.Cut(strings.TrimPrefix(address, "https://"), "/")
		}
		hooks = append(hooks, hook.With("clientConfig", value.Object(
			value.Member{Name: "url", Value: value.String(url + "/" + strings.TrimPrefix(path, "/"))},
			value.Member{Name: "caBundle", Value: value.String(base64.StdEncoding.EncodeToString(trusted))},
		)))
	}
	return configuration.With("webhooks", value.List(hooks...))
}
