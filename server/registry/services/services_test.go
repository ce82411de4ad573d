package services_test

import (
	"testing"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry/services"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// plain is a form that loads objects as they are stored.
type plain struct{ catalog.Form }

// Load returns stored.
func (plain) Load(stored value.Value) (value.Value, error) { return stored, nil }

// TestResolveEndpoint finds services by fixed addresses, external names and ready endpoints.
func TestResolveEndpoint(t *testing.T) {
	slices := &catalog.Resource{Group: "discovery.k8s.io", Plural: "endpointslices", Prefix: "/registry/endpointslices/"}
	slices.Versions = []*catalog.Version{{Resource: slices, Name: "v1", Form: plain{}}}
	served := catalog.New(slices)
	s := memory.New()
	defer s.Close()
	slice := func(namespace, service, ports, endpoints string) string {
		return `{"endpoints":[` + endpoints + `],"metadata":{"labels":{"kubernetes.io/service-name":"` + service + `"},"namespace":"` + namespace + `"},"ports":[` + ports + `]}`
	}
	const https = `{"name":"https","port":8443}`
	for key, text := range map[string]string{
		"services/specs/n/web":      `{"spec":{"ports":[{"name":"http","port":80},{"name":"https","port":443}]}}`,
		"services/specs/n/external": `{"spec":{"externalName":"hook.example.org","ports":[{"port":443}],"type":"ExternalName"}}`,
		"services/specs/n/asleep":   `{"spec":{"ports":[{"name":"https","port":443}]}}`,
		"services/specs/n/six":      `{"spec":{"ports":[{"name":"https","port":443}]}}`,
		"endpointslices/n/a":        slice("m", "web", https, `{"addresses":["9.9.9.9"]}`),
		"endpointslices/n/b":        slice("n", "other", https, `{"addresses":["8.8.8.8"]}`),
		"endpointslices/n/c": slice("n", "web", `{"name":"http","port":8080},`+https,
			`{"addresses":["7.7.7.7"],"conditions":{"ready":false}},{"addresses":[]},{"addresses":["1.2.3.4","5.5.5.5"],"conditions":{"ready":true}}`),
		"endpointslices/n/d": slice("n", "asleep", https, `{"addresses":["7.7.7.7"],"conditions":{"ready":false}}`),
		"endpointslices/n/e": slice("n", "six", https, `{"addresses":["fd00::1"],"conditions":{"ready":null}}`),
	} {
		if _, err := s.Put(t.Context(), "/registry/"+key, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	r := services.Resolver{
		Context: t.Context(), Store: s, Catalog: func() *catalog.Catalog { return served }, Fixed: map[string]string{"fixed.n": "127.0.0.1:9"},
	}
	for _, c := range []struct {
		namespace, name string
		port            int32
		want            string
	}{
		{"n", "fixed", 443, "https://127.0.0.1:9"},
		{"m", "fixed", 443, `service "fixed" not found`},
		{"n", "external", 443, "https://hook.example.org:443"},
		{"n", "external", 80, "https://hook.example.org:80"},
		{"n", "web", 443, "https://1.2.3.4:8443"},
		{"n", "web", 80, "https://1.2.3.4:8080"},
		{"n", "web", 8443, `no service port 8443 found for service "web"`},
		{"n", "six", 443, "https://[fd00::1]:8443"},
		{"n", "asleep", 443, `no endpoints available for service "asleep"`},
		{"m", "web", 443, `service "web" not found`},
	} {
		at, err := r.ResolveEndpoint(c.namespace, c.name, c.port)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = at.String()
		}
		if got != c.want {
			t.Errorf("port %d of %s in %s is %s, want %s", c.port, c.name, c.namespace, got, c.want)
		}
	}
}
