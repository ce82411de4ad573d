package wire

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		accept, agent, query string
		offer                Offer
		want                 Representation
		refused              bool
	}{
		{want: Representation{Media: JSON}},
		{accept: "*/*", want: Representation{Media: JSON}},
		{accept: "application/*;q=0.1, application/yaml;q=0.2", want: Representation{Media: YAML}},
		{accept: "text/csv", refused: true},
		{accept: Protobuf, refused: true},
		{accept: Protobuf + "," + JSON, want: Representation{Media: JSON}},
		{accept: Protobuf, offer: Offer{Protobuf: true}, want: Representation{Media: Protobuf}},
		{accept: CBOR + "," + JSON + ";q=0.5", want: Representation{Media: JSON}},
		{accept: CBOR + "," + JSON + ";q=0.5", offer: Offer{CBOR: true}, want: Representation{Media: CBOR}},
		{accept: CBORSequence, offer: Offer{CBOR: true}, refused: true},
		{
			accept: Protobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", offer: Offer{Convert: true},
			want: Representation{Media: Protobuf, As: AsPartial, Of: "meta.k8s.io/v1"},
		},
		{accept: Protobuf + ";as=Table;g=meta.k8s.io;v=v1", offer: Offer{Convert: true, Protobuf: true}, refused: true},
		{
			accept: "application/json;as=Table;g=meta.k8s.io;v=v1", offer: Offer{Convert: true},
			want: Representation{Media: JSON, As: AsTable, Of: "meta.k8s.io/v1"},
		},
		{accept: "application/json;as=Table;g=meta.k8s.io;v=v1", refused: true},
		{accept: "application/json;as=Table;g=meta.k8s.io;v=v2,application/json", want: Representation{Media: JSON}},
		{accept: "application/json;as=Nope;g=meta.k8s.io;v=v1", refused: true},
		{accept: "application/json;charset=utf-8;foo=bar", want: Representation{Media: JSON}},
		{accept: "application/json;pretty=1", want: Representation{Media: JSON, Pretty: true}},
		{agent: "curl/8", want: Representation{Media: JSON, Pretty: true}},
		{agent: "curl/8", query: "?pretty=false", want: Representation{Media: JSON}},
		{query: "?pretty", want: Representation{Media: JSON}},
		{agent: "curl/8", query: "?pretty", want: Representation{Media: JSON, Pretty: true}},
		{query: "?pretty=T", want: Representation{Media: JSON, Pretty: true}},
		{query: "?prett%79=1", want: Representation{Media: JSON}},
		{agent: "curl/8", query: "?pretty=0&pretty=1", want: Representation{Media: JSON}},
		{accept: "application/json;pretty=1", query: "?pretty=0", want: Representation{Media: JSON, Pretty: true}},
		{accept: "application/json;pretty=true", want: Representation{Media: JSON}},
		{accept: "application/json;pretty=0", agent: "curl/8", want: Representation{Media: JSON, Pretty: true}},
		{accept: "application/json;stream=watch", want: Representation{Media: JSON}},
		{accept: "application/json;stream=other,application/yaml", want: Representation{Media: YAML}},
		{accept: "application/yaml;stream=watch", refused: true},
		{accept: "application/json;sv=v1", offer: Offer{Convert: true}, want: Representation{Media: JSON}},
		{accept: "application/json;sv=v2", offer: Offer{Convert: true}, refused: true},
		{accept: "application/json;sv=v1", refused: true},
		{accept: "*", want: Representation{Media: JSON}},
		{accept: "*", offer: Offer{Routed: true}, refused: true},
		{query: "?pretty=true", want: Representation{Media: JSON, Pretty: true}},
	} {
		r := httptest.NewRequest("GET", "/"+c.query, nil)
		r.Header.Set("Accept", c.accept)
		r.Header.Set("User-Agent", c.agent)
		got, err := Negotiate(r, c.offer)
		if (err != nil) != c.refused || err == nil && got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

func TestNegotiateAggregated(t *testing.T) {
	const params = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for accept, want := range map[string]string{
		JSON + params:                                  JSON,
		JSON + "," + YAML + params:                     YAML,
		JSON + ",*/*;q=0.1" + params:                   JSON,
		YAML + params + ";stream=watch," + JSON:        "",
		JSON + params + ";stream=none," + JSON:         "",
		JSON + params + ";sv=v1":                       "",
		JSON + ";g=apidiscovery.k8s.io;v=v2":           "",
		"text/html" + params + "," + JSON:              "",
		JSON + params + ";profile=nopeer;stream=watch": JSON,
	} {
		r := httptest.NewRequest("GET", "/apis", nil)
		r.Header.Set("Accept", accept)
		got, ok := NegotiateAggregated(r, Offer{Protobuf: true})
		if ok != (want != "") || ok && got.ContentType() != want+AggregatedParams {
			t.Errorf("%s: %+v, %v", accept, got, ok)
		}
	}
}

// TestNegotiateRouted demands of a path of the router that the router knows one of the types.
func TestNegotiateRouted(t *testing.T) {
	for accept, want := range map[string]bool{
		"*/*" + AggregatedParams:                         true,
		"application/*" + AggregatedParams:               false,
		"application/*" + AggregatedParams + "," + YAML:  true,
		"text/html,application/json" + AggregatedParams:  true,
		"application/json;q=0.1," + YAML + ";as=unknown": false,
	} {
		r := httptest.NewRequest("GET", "/api", nil)
		r.Header.Set("Accept", accept)
		if _, ok := NegotiateAggregated(r, Offer{Protobuf: true, Routed: true}); ok != want {
			t.Errorf("%s: %v, want %v", accept, ok, want)
		}
	}
}

// TestNegotiateOpenAPI compares media types of OpenAPI documents with those that a kube-apiserver answered with.
func TestNegotiateOpenAPI(t *testing.T) {
	const asked, answered = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	for _, c := range []struct{ accept, want string }{
		{"", JSON},
		{"*/*", JSON},
		{"*/json", JSON},
		{"text/html", ""},
		{"APPLICATION/JSON", ""},
		{asked, answered},
		{answered, answered},
		{strings.ToUpper(asked), ""},
		{"*/com.github.proto-openapi.spec.v3@v1.0+protobuf", answered},
		{asked + ";q=0.1," + JSON, JSON},
		{asked + " ; q=0.3 , application/json ; q=0.4", JSON},
		{JSON + ";q=0.5," + asked, answered},
		{JSON + ";q=x," + asked + ";q=0.5", answered},
		{JSON + "," + asked, JSON},
		{asked + "," + JSON, answered},
		{"*/*," + asked, answered},
		{"application/*," + asked, answered},
		{"APPLICATION/JSON," + asked, answered},
	} {
		r := httptest.NewRequest("GET", "/openapi/v3/apis/batch/v1", nil)
		r.Header.Set("Accept", c.accept)
		if got, protobuf := NegotiateOpenAPI(r, "v3"); got != c.want || protobuf != (c.want == answered) {
			t.Errorf("%s: %s, %v", c.accept, got, protobuf)
		}
	}
}
