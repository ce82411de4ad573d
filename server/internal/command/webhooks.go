package command

import (
	"fmt"
	"net"
	"strings"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/manifest"
)

// webhooks says how webhooks are asked, by the flags.
func (o *options) webhooks() (server.Webhooks, error) {
	w := server.Webhooks{Credentials: o.webhookUsers, Resolve: map[string]string{}}
	for _, text := range o.resolve {
		service, address, found := strings.Cut(text, "=")
		if _, _, err := net.SplitHostPort(address); !found || err != nil || strings.Count(service, ".") != 1 {
			return w, fmt.Errorf("--resolve: %q is not of the form NAME.NAMESPACE=HOST:PORT", text)
		}
		w.Resolve[service] = address
	}
	if len(o.admission) == 0 {
		return w, nil
	}
	objects, err := manifest.Reader{}.Read(o.admission...)
	if err != nil {
		return w, fmt.Errorf("--admission: %w", err)
	}
	for _, object := range objects {
		if kind := object.Get("kind").Str(); strings.HasSuffix(kind, "WebhookConfiguration") {
			w.Fixed = append(w.Fixed, object.Value)
		}
	}
	if len(w.Fixed) == 0 {
		return w, fmt.Errorf("--admission: %s contains no webhook configuration", strings.Join(o.admission, ", "))
	}
	return w, nil
}
