package wire

import "net/http"

// AggregatedParams are the parameters that tell aggregated discovery from other documents.
const AggregatedParams = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// isAggregated reports whether c asks for aggregated discovery, and whether in a version that is served.
func (c clause) isAggregated() (asked, served bool) {
	if c.params["as"] != "APIGroupDiscoveryList" || c.params["g"] != "apidiscovery.k8s.io" {
		return false, false
	}
	return true, c.typ == JSON && c.params["v"] == "v2"
}

// TakesAggregated reports whether a client of discovery takes the aggregated form, and prefers it to plain JSON.
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

// TakesOnlyAggregated reports whether a client takes nothing but aggregated discovery.
func TakesOnlyAggregated(r *http.Request) bool {
	for _, c := range clauses(r.Header.Get("Accept")) {
		if asked, _ := c.isAggregated(); !asked {
			return false
		}
	}
	return true
}

// NotAggregated refuses a client that takes discovery only in a form that is not served: 406.
func NotAggregated() error { return notAcceptable(Offer{}.types()...) }
