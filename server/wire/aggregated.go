package wire

import "net/http"

// AggregatedParams are the media type parameters of aggregated discovery.
const AggregatedParams = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// isAggregated reports whether c asks for aggregated discovery, and whether the server serves the version that c names.
func (c clause) isAggregated() (asked, served bool) {
	if c.params["as"] != "APIGroupDiscoveryList" || c.params["g"] != "apidiscovery.k8s.io" {
		return false, false
	}
	return true, c.typ == JSON && c.params["v"] == "v2"
}

// TakesAggregated reports whether a client accepts aggregated discovery and prefers it to plain JSON.
func TakesAggregated(r *http.Request) bool {
	for _, c := range clauses(r.Header.Get("Accept")) {
		asked, served := c.isAggregated()
		if served {
			return true
		}
		if _, plain := c.representation(r); plain && !asked {
			return false
		}
	}
	return false
}

// TakesOnlyAggregated reports whether a client accepts aggregated discovery only.
func TakesOnlyAggregated(r *http.Request) bool {
	for _, c := range clauses(r.Header.Get("Accept")) {
		if asked, _ := c.isAggregated(); !asked {
			return false
		}
	}
	return true
}

// NotAggregated returns a 406 for a client that accepts discovery only in forms that the server lacks.
func NotAggregated() error { return notAcceptable(Offer{}.types()...) }
