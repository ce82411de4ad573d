package tables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/value"
)

var network = map[string][]cell{
	"services": {
		name, text("spec", "type"), shown(clusterIP), shown(externalIP), shown(servicePorts), age, labelsOf("spec", "selector"),
	},
	"endpointslices.discovery.k8s.io": {name, text("addressType"), shown(slicePorts), shown(sliceEndpoints), age},
	"ingresses.networking.k8s.io": {
		name, textOr(none, "spec", "ingressClassName"), shown(hosts), shown(loadBalancer), shown(ingressPorts), age,
	},
	"ingressclasses.networking.k8s.io": {
		shown(ingressClassName), text("spec", "controller"), shown(ingressParameters), age,
	},
	"networkpolicies.networking.k8s.io": {name, selectorOf("spec", "podSelector"), age},
	"servicecidrs.networking.k8s.io":    {name, joined("", "spec", "cidrs"), age},
	"ipaddresses.networking.k8s.io":     {name, shown(parentRef), age},
	"leases.coordination.k8s.io":        {name, text("spec", "holderIdentity"), age},
}

func clusterIP(s source) string {
	for ip := range s.Get("spec", "clusterIPs").Items() {
		return ip.Str()
	}
	return none
}

// externalIP shows how a service is reached from outside, by its type.
func externalIP(s source) string {
	ips := texts(s.Get("spec", "externalIPs"))
	switch s.Get("spec", "type").Str() {
	case "ClusterIP", "NodePort":
		return orElse(strings.Join(ips, ","), none)
	case "LoadBalancer":
		if balancer := loadBalancer(s); balancer != "" {
			ips = append([]string{balancer}, ips...)
		}
		return orElse(strings.Join(ips, ","), "<pending>")
	case "ExternalName":
		return s.Get("spec", "externalName").Str()
	}
	return unknown
}

// loadBalancer shows the addresses of a load balancer: of each its IP, or else its name.
func loadBalancer(s source) string {
	var out []string
	for ingress := range s.Get("status", "loadBalancer", "ingress").Items() {
		if address := orElse(ingress.Get("ip").Str(), ingress.Get("hostname").Str()); address != "" {
			out = append(out, address)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

func servicePorts(s source) string {
	var out []string
	for port := range s.Get("spec", "ports").Items() {
		number := strconv.FormatInt(port.Get("port").Int(), 10)
		if onNode := port.Get("nodePort").Int(); onNode > 0 {
			number += ":" + strconv.FormatInt(onNode, 10)
		}
		out = append(out, number+"/"+port.Get("protocol").Str())
	}
	return orElse(strings.Join(out, ","), none)
}

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
	return orElse(withMore(out, 3, ","), unset)
}

func sliceEndpoints(s source) string {
	var out []string
	for endpoint := range s.Get("endpoints").Items() {
		out = append(out, texts(endpoint.Get("addresses"))...)
	}
	return orElse(withMore(out, 3, ","), unset)
}

// hosts shows the first three hosts of an Ingress. Rules without a host are for every host, but count as those do that have one.
func hosts(s source) string {
	const most = 3
	rules := s.Get("spec", "rules")
	var out []string
	for rule := range rules.Items() {
		if len(out) == most {
			return strings.Join(out, ",") + fmt.Sprintf(" + %d more...", rules.Len()-most)
		}
		if host := rule.Get("host").Str(); host != "" {
			out = append(out, host)
		}
	}
	return orElse(strings.Join(out, ","), "*")
}

func ingressPorts(s source) string {
	if s.Get("spec", "tls").Len() > 0 {
		return "80, 443"
	}
	return "80"
}

func ingressClassName(s source) string {
	name := s.Get("metadata", "name").Str()
	if s.Get("metadata", "annotations", "ingressclass.kubernetes.io/is-default-class").Str() == "true" {
		name += " (default)"
	}
	return name
}

func ingressParameters(s source) string {
	parameters := s.Get("spec", "parameters")
	if parameters.Kind() != value.KindObject {
		return none
	}
	kind := parameters.Get("kind").Str()
	if group := parameters.Get("apiGroup"); group.Kind() == value.KindString {
		kind += "." + group.Str()
	}
	return kind + "/" + parameters.Get("name").Str()
}

// parentRef shows what an address belongs to.
func parentRef(s source) string {
	parent := s.Get("spec", "parentRef")
	if parent.Kind() != value.KindObject {
		return none
	}
	resource := kschema.GroupResource{Group: parent.Get("group").Str(), Resource: parent.Get("resource").Str()}
	out := strings.ToLower(resource.String()) + "/"
	if namespace := parent.Get("namespace").Str(); namespace != "" {
		out += namespace + "/"
	}
	return out + parent.Get("name").Str()
}
