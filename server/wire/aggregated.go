package wire

import (
	"maps"
	"net/http"
)

// Discovery has two forms. A client names the aggregated one by parameters of JSON, and lists the plain one for older servers:
//
//	Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json
//
// The first clause in the order of preference that this server has decides.

// AggregatedParams are the media type parameters of aggregated discovery.
const AggregatedParams = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// NegotiateAggregated returns the representation of aggregated discovery that a client wants, and whether the client prefers it to plain
// discovery.
func NegotiateAggregated(r *http.Request, o Offer) (rep Representation, ok bool) {
	for _, c := range clauses(r.Header.Get("Accept")) {
		aggregated := c.isAggregated()
		if aggregated {
			c.params = maps.Clone(c.params)
			for _, name := range []string{"as", "g", "v"} {
				delete(c.params, name)
			}
		}
		rep, known := c.representation(r)
		switch {
		case !known || !o.has(rep):
		case aggregated:
			rep.Params = AggregatedParams
			return rep, true
		default:
			return rep, false
		}
	}
	return Plain, false
}

// isAggregated reports whether c asks for aggregated discovery in the version that the server serves.
func (c clause) isAggregated() bool {
	return c.params["as"] == "APIGroupDiscoveryList" && c.params["g"] == "apidiscovery.k8s.io" && c.params["v"] == "v2"
}
