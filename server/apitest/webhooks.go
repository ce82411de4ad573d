package apitest

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
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
		objects, err := reader.Read(name)
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

// Conversion makes a server ask a handler of the test to convert custom resources between versions, whatever url or service their
// definitions name: those whose conversion strategy is Webhook, and the named ones, such as widgets.example.org, whatever they say. So
// definitions need not be patched as they are for a cluster. TLS is taken care of.
//
// The handler may be the mux of controller-runtime's webhook server, which converts at /convert: the path of definitions that name
// none. Without Conversion, the handler of [Webhooks] is asked.
func Conversion(handler http.Handler, definitions ...string) Option {
	return func(o *options) error {
		o.converter, o.converted = handler, definitions
		return nil
	}
}

// hooked is a configuration, and what is to be asked in place of its webhooks.
type hooked struct {
	configuration manifest.Object
	handler       http.Handler
}

// serveWebhooks serves the handlers of o, each at a port of its own, and adds the configurations that lead to them to its objects.
func (o *options) serveWebhooks(tb testing.TB) error {
	for _, h := range o.webhooks {
		url, trusted, err := serveTLS(tb, h.handler)
		if err != nil {
			return err
		}
		h.configuration.Value = redirected(h.configuration.Value, url, trusted)
		o.objects = append(o.objects, h.configuration)
		if o.converter == nil {
			o.converter = h.handler
		}
	}
	return o.serveConversion(tb)
}

// serveConversion serves the handler that converts, and leads the definitions among the objects to it.
func (o *options) serveConversion(tb testing.TB) error {
	if o.converter == nil {
		return nil
	}
	url, trusted, err := serveTLS(tb, o.converter)
	if err != nil {
		return err
	}
	for i, object := range o.objects {
		if object.Get("kind").Str() != "CustomResourceDefinition" {
			continue
		}
		named := slices.Contains(o.converted, object.Get("metadata", "name").Str())
		if named || object.Get("spec", "conversion", "strategy").Str() == "Webhook" {
			o.objects[i].Value = convertedAt(object.Value, url, trusted)
		}
	}
	return nil
}

// convertedAt returns a definition whose objects are converted below url, which has a certificate that trusted vouches for.
func convertedAt(definition value.Value, url string, trusted []byte) value.Value {
	hook := definition.Get("spec", "conversion", "webhook")
	path := pathOf(hook.Get("clientConfig"))
	if path == "" {
		path = "convert"
	}
	reviews := hook.Get("conversionReviewVersions")
	if reviews.Len() == 0 {
		reviews = value.List(value.String("v1"))
	}
	return definition.With("spec", definition.Get("spec").With("conversion", value.Object(
		value.Member{Name: "strategy", Value: value.String("Webhook")},
		value.Member{Name: "webhook", Value: value.Object(
			value.Member{Name: "clientConfig", Value: clientAt(url+"/"+path, trusted)},
			value.Member{Name: "conversionReviewVersions", Value: reviews},
		)},
	)))
}

// serveTLS serves a handler until the test ends. It returns its address, and in PEM what vouches for its certificate.
func serveTLS(tb testing.TB, handler http.Handler) (url string, trusted []byte, err error) {
	certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		return "", nil, err
	}
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the server says what went wrong
	s.StartTLS()
	tb.Cleanup(s.Close)
	return s.URL, trusted, nil
}

// redirected returns a configuration whose webhooks are below url, which has a certificate that trusted vouches for.
func redirected(configuration value.Value, url string, trusted []byte) value.Value {
	var hooks []value.Value
	for hook := range configuration.Get("webhooks").Items() {
		hooks = append(hooks, hook.With("clientConfig", clientAt(url+"/"+pathOf(hook.Get("clientConfig")), trusted)))
	}
	return configuration.With("webhooks", value.List(hooks...))
}

// pathOf returns the path of a clientConfig, without the slash that it begins with.
func pathOf(client value.Value) string {
	path := client.Get("service", "path").Str()
	if address := client.Get("url").Str(); address != "" {
		_, path, _ = strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	}
	return strings.TrimPrefix(path, "/")
}

// clientAt returns the clientConfig of a webhook at url, which has a certificate that trusted vouches for.
func clientAt(url string, trusted []byte) value.Value {
	return value.Object(
		value.Member{Name: "url", Value: value.String(url)},
		value.Member{Name: "caBundle", Value: value.String(base64.StdEncoding.EncodeToString(trusted))},
	)
}
