package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/value"
)

// notServed are the resources and subresources that a kube-apiserver has and this one has not: those that reach into a running
// cluster, and the API of its aggregator.
var notServed = []string{
	"bindings", "componentstatuses", "apiservices", "apiservices/status", "nodes/proxy", "services/proxy", "serviceaccounts/token",
	"pods/attach", "pods/binding", "pods/ephemeralcontainers", "pods/eviction", "pods/exec", "pods/log", "pods/portforward", "pods/proxy",
	"pods/resize", "certificatesigningrequests/approval",
}

// TestDiscovery compares what the server says that it serves, of built-in kinds, with what a kube-apiserver says.
func TestDiscovery(t *testing.T) {
	recorded, err := recording.Load[map[string]value.Value]("testdata/discovery.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	s, compared := widgets(t), 0
	for path, resources := range recorded[0] {
		document, err := value.Parse(ask(s, "GET "+path, "").Body.Bytes())
		if err != nil && !strings.Contains(path, "apiregistration") {
			t.Errorf("%s: %v", path, err)
		}
		got := map[string]value.Value{}
		for r := range document.Get("resources").Items() {
			got[r.Get("name").Str()] = r
		}
		for want := range resources.Items() {
			name := want.Get("name").Str()
			served, is := got[name]
			delete(got, name)
			switch {
			case slices.Contains(notServed, name):
				if is {
					t.Errorf("%s %s is served by now", path, name)
				}
			case !served.Equal(want):
				t.Errorf("%s %s\n got %v\nwant %v", path, name, served, want)
			default:
				compared++
			}
		}
		for name := range got {
			t.Errorf("%s %s is no resource of kube-apiserver", path, name)
		}
	}
	if compared < 80 {
		t.Errorf("only %d resources are compared", compared)
	}
}
