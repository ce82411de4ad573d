package wire

import (
	"net/http/httptest"
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
