package kinds

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/server/kinds/services"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// WithFamilies returns the kind for a cluster whose services get addresses of these families, the default one first. Kinds other than Service
// stay as they are.
func (k Kind) WithFamilies(families ...string) Kind {
	if k.Traits.Name != "Service" || k.Traits.Group != "" || len(families) == 0 {
		return k
	}
	traits, of := *k.Traits, services.Families(families)
	traits.early, traits.complete = of.ValidateAddresses, of.Complete
	k.Traits = &traits
	return k
}

// endpointsOf shows the first three addresses of Endpoints, each with every port that there is.
func endpointsOf(s source) string {
	if s.Get("subsets").Len() == 0 {
		return none
	}
	var all []string
	for subset := range s.Get("subsets").Items() {
		addresses := walk.NamesIn(subset.Get("addresses"), "ip")
		if subset.Get("ports").Len() == 0 {
			all = append(all, addresses...)
		}
		for port := range subset.Get("ports").Items() {
			for _, ip := range addresses {
				all = append(all, net.JoinHostPort(ip, strconv.FormatInt(port.Get("port").Int(), 10)))
			}
		}
	}
	return withMore(all, 3, ",")
}

// clusterIP shows the first address of a service.
func clusterIP(s source) string {
	for ip := range s.Get("spec", "clusterIPs").Items() {
		return ip.Str()
	}
	return none
}

// externalIP shows how a service is reached from outside, by its type.
func externalIP(s source) string {
	ips := walk.Texts(s.Get("spec", "externalIPs"))
	switch s.Get("spec", "type").Str() {
	case "ClusterIP", "NodePort":
		return cmp.Or(strings.Join(ips, ","), none)
	case "LoadBalancer":
		if balancer := loadBalancer(s); balancer != "" {
			ips = append([]string{balancer}, ips...)
		}
		return cmp.Or(strings.Join(ips, ","), "<pending>")
	case "ExternalName":
		return s.Get("spec", "externalName").Str()
	}
	return unknown
}

// loadBalancer shows the addresses of a load balancer: of each its IP, or else its name.
func loadBalancer(s source) string {
	var out []string
	for ingress := range s.Get("status", "loadBalancer", "ingress").Items() {
		if address := cmp.Or(ingress.Get("ip").Str(), ingress.Get("hostname").Str()); address != "" {
			out = append(out, address)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

// servicePorts shows the ports of a service as port:nodePort/protocol.
func servicePorts(s source) string {
	var out []string
	for port := range s.Get("spec", "ports").Items() {
		number := strconv.FormatInt(port.Get("port").Int(), 10)
		if onNode := port.Get("nodePort").Int(); onNode > 0 {
			number += ":" + strconv.FormatInt(onNode, 10)
		}
		out = append(out, number+"/"+port.Get("protocol").Str())
	}
	return cmp.Or(strings.Join(out, ","), none)
}

// slicePorts shows the first three ports of an EndpointSlice: by number, or else by name. A star is every port.
func slicePorts(s source) string {
	var out []string
	for port := range s.Get("ports").Items() {
		switch number := port.Get("port"); {
		case number.Kind() == value.KindInt:
			out = append(out, strconv.FormatInt(number.Int(), 10))
		case port.Get("name").Kind() == value.KindString:
			out = append(out, port.Get("name").Str())
		default:
			out = append(out, "*")
		}
	}
	return cmp.Or(withMore(out, 3, ","), unset)
}

// sliceEndpoints shows the first three addresses of an EndpointSlice.
func sliceEndpoints(s source) string {
	var out []string
	for endpoint := range s.Get("endpoints").Items() {
		out = append(out, walk.Texts(endpoint.Get("addresses"))...)
	}
	return cmp.Or(withMore(out, 3, ","), unset)
}

func serviceCells() []cell {
	return []cell{
		name, text("spec", "type"), shown(clusterIP), shown(externalIP), shown(servicePorts), age, labelsOf("spec", "selector"),
	}
}

// serviceAdds is what is allocated for services.
var serviceAdds = []Allocated{
	{
		Paths:  []string{"spec clusterIP", "spec clusterIPs", "spec ipFamilies", "spec ipFamilyPolicy"},
		Reason: "follow from the addresses that the server allocates",
		when:   func(service value.Value) bool { return service.Get("spec", "type").Str() != "ExternalName" },
	},
	{Paths: []string{"spec ports * nodePort"}, Reason: "allocated from a range of the server", when: needsNodePorts},
	{
		Paths: []string{"spec healthCheckNodePort"}, Reason: "allocated from a range of the server",
		when: func(service value.Value) bool { return services.HasHealthPort(service.Get("spec")) },
	},
}

// needsNodePorts reports whether a service gets node ports by default.
func needsNodePorts(service value.Value) bool {
	spec := service.Get("spec")
	allocate := spec.Get("allocateLoadBalancerNodePorts")
	typ := spec.Get("type").Str()
	return typ == "NodePort" || typ == "LoadBalancer" && (!walk.IsSet(allocate) || allocate.Bool())
}
