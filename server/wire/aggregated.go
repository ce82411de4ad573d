package wire

import (
	"maps"
	"net/http"
)

// Discovery has two forms. A client names the aggregated one by parameters of JSON, and lists the plain one for older servers:
//
//	Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json

// AggregatedParams are the media type parameters of aggregated discovery.
const AggregatedParams = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// NegotiateAggregated returns the representation of aggregated discovery that a client wants, and whether the client lists that form at all.
// As in kube-apiserver, the weight of other clauses does not matter. A path of the router has that form only if the router knows one of the
// types.
func NegotiateAggregated(r *http.Request, o Offer) (rep Representation, ok bool) {
	header := r.Header.Get("Accept")
	if o.Routed && !routes(header, o.known) {
		return Plain, false
	}
	for _, c := range clauses(header) {
		if !c.isAggregated() || !o.permits(c) {
			continue
		}
		c.params = maps.Clone(c.params)
		for _, name := range []string{"as", "g", "v"} {
			delete(c.params, name)
		}
		if rep, known := c.representation(r); known && o.has(rep) {
			rep.Params = AggregatedParams
			return rep, true
		}
	}
	return Plain, false
}

// isAggregated reports whether c asks for aggregated discovery in the version that the server serves.
func (c clause) isAggregated() bool {
	return c.params["as"] == "APIGroupDiscoveryList" && c.params["g"] == "apidiscovery.k8s.io" && c.params["v"] == "v2"
}
