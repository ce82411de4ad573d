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

// Webhooks makes a server call a handler of the test in place of webhooks. name is a file with webhook configurations, or a directory of
// such files, for example config/webhook. The handler gets the path of the configured url or service; the server provides TLS. Other
// objects in the files are ignored. The server stores the configurations, and clients may change them.
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
			return fmt.Errorf("%s contains no webhook configuration", name)
		}
		return nil
	}
}

// Conversion makes a server call a handler of the test to convert custom resources, in place of the url or service of their definitions. It
// applies to definitions whose conversion strategy is Webhook, and to the named ones, such as widgets.example.org, with any strategy. So
// definitions need no patches for the test. The server provides TLS.
//
// The handler may be the mux of controller-runtime's webhook server, which converts at /convert, the default path. Without Conversion, the
// handler of [Webhooks] converts.
func Conversion(handler http.Handler, definitions ...string) Option {
	return func(o *options) error {
		o.converter, o.converted = handler, definitions
		return nil
	}
}

// hooked is a webhook configuration, and the handler for its webhooks.
type hooked struct {
	configuration manifest.Object
	handler       http.Handler
}

// serveWebhooks serves the handlers of o, each at its own port, and adds the configurations with their addresses to the objects.
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

// serveConversion serves the conversion handler, and sets its address in the definitions among the objects.
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

// convertedAt returns a definition whose conversion webhook is below url. trusted has the authority of its certificate.
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

// serveTLS serves a handler until the test ends. It returns the address, and the authority of its certificate in PEM.
func serveTLS(tb testing.TB, handler http.Handler) (url string, trusted []byte, err error) {
	certificate, trusted, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		return "", nil, err
	}
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the API server reports the error
	s.StartTLS()
	tb.Cleanup(s.Close)
	return s.URL, trusted, nil
}

// redirected returns a configuration whose webhooks are below url. trusted has the authority of its certificate.
func redirected(configuration value.Value, url string, trusted []byte) value.Value {
	var hooks []value.Value
	for hook := range configuration.Get("webhooks").Items() {
		hooks = append(hooks, hook.With("clientConfig", clientAt(url+"/"+pathOf(hook.Get("clientConfig")), trusted)))
	}
	return configuration.With("webhooks", value.List(hooks...))
}

// pathOf returns the path of a clientConfig without its leading slash.
func pathOf(client value.Value) string {
	path := client.Get("service", "path").Str()
	if address := client.Get("url").Str(); address != "" {
		_, path, _ = strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	}
	return strings.TrimPrefix(path, "/")
}

// clientAt returns the clientConfig of a webhook at url. trusted has the authority of its certificate.
func clientAt(url string, trusted []byte) value.Value {
	return value.Object(
		value.Member{Name: "url", Value: value.String(url)},
		value.Member{Name: "caBundle", Value: value.String(base64.StdEncoding.EncodeToString(trusted))},
	)
}
