package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// notServed are the resources and subresources that a kube-apiserver has and this one has not: those that reach into a running
// cluster, and the API of its aggregator.
var notServed = []string{
	"componentstatuses", "apiservices", "apiservices/status", "nodes/proxy", "services/proxy", "serviceaccounts/token",
	"pods/log", "certificatesigningrequests/approval",
}

// TestDiscovery compares what the server says that it serves, of built-in kinds, with what a kube-apiserver says.
func TestDiscovery(t *testing.T) {
	recorded, err := recording.Load[map[string]value.Value]("testdata/discovery.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	s, compared := servertest.Widgets(t), 0
	for path, resources := range recorded[0] {
		document, err := value.Parse(servertest.Ask(s, "GET "+path, "").Body.Bytes())
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

// TestAggregatedDiscovery compares the documents that tell everything that is served with those of a kube-apiserver, in their order,
// but for what is not served here.
func TestAggregatedDiscovery(t *testing.T) {
	s := servertest.Widgets(t)
	accept := " Accept=application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	recorded, err := recording.Load[map[string]value.Value]("testdata/aggregated.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range recorded[0] {
		w := servertest.Ask(s, "GET "+path+accept, "")
		got, err := value.Parse(w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var groups []value.Value
		for g := range got.Get("items").Items() {
			if g.Get("metadata", "name").Str() != "example.org" {
				groups = append(groups, g)
			}
		}
		i := 0
		for group := range want.Get("items").Items() {
			group = withoutUnserved(group)
			if group.Get("metadata", "name").Str() == "apiregistration.k8s.io" {
				continue // of the aggregator
			}
			if i >= len(groups) || !groups[i].Equal(group) {
				t.Errorf("%s: group %d\n got %v\nwant %v", path, i, groups[min(i, len(groups)-1)], group)
			}
			i++
		}
		if i != len(groups) {
			t.Errorf("%s: %d groups, want %d", path, len(groups), i)
		}
		etag := w.Header().Get("Etag")
		if again := servertest.Ask(s, "GET "+path+accept+" If-None-Match="+etag, ""); etag == "" || again.Code != http.StatusNotModified {
			t.Errorf("%s: what is known is answered with %d", path, again.Code)
		}
	}
}

// withoutUnserved returns a group of aggregated discovery without the resources and subresources that are not served.
func withoutUnserved(group value.Value) value.Value {
	var versions []value.Value
	for v := range group.Get("versions").Items() {
		var resources []value.Value
		for r := range v.Get("resources").Items() {
			name := r.Get("resource").Str()
			if slices.Contains(notServed, name) {
				continue
			}
			var subs []value.Value
			for sub := range r.Get("subresources").Items() {
				if !slices.Contains(notServed, name+"/"+sub.Get("subresource").Str()) {
					subs = append(subs, sub)
				}
			}
			if r = r.With("subresources", value.Value{}); len(subs) > 0 {
				r = r.With("subresources", value.List(subs...))
			}
			resources = append(resources, r)
		}
		versions = append(versions, v.With("resources", value.List(resources...)))
	}
	return group.With("versions", value.List(versions...))
}
