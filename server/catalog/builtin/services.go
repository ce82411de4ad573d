package builtin

import "github.com/deed-project/deed/value"

// withFamilies completes the spec of a service, new or as the successor of live, with the fields that follow from its addresses. The
// cluster has IPv4. Nothing is allocated.
//
//	kept     fields of live that the service omits: addresses, the health check port, and node ports by the
//	         names of ports
//	listed   clusterIPs begins with clusterIP
//	policy   one family, except for a headless service without a selector, which may have both
//	families IPv4, followed by IPv6 where two are required
func withFamilies(service, live value.Value) value.Value {
	spec, was := service.Get("spec"), live.Get("spec")
	if spec.Kind() != value.KindObject {
		return service
	}
	elsewhere := spec.Get("type").Str() == "ExternalName"
	if was.Kind() == value.KindObject && was.Get("type").Str() != "ExternalName" && !elsewhere {
		spec = withAllocated(spec, was)
	}
	ip, ips := spec.Get("clusterIP"), spec.Get("clusterIPs")
	had := was.Get("clusterIPs")
	if ip.Str() != "" && (ips.Len() == 0 || ips.Equal(had) && !ip.Equal(was.Get("clusterIP"))) {
		spec = spec.With("clusterIPs", value.List(ip))
	}
	if elsewhere {
		return service.With("spec", spec)
	}
	free := ip.Str() == "None" && spec.Get("selector").Len() == 0
	if spec.Get("ipFamilyPolicy").Str() == "" {
		spec = spec.With("ipFamilyPolicy", policyOf(was.Get("ipFamilyPolicy"), free))
	}
	families := spec.Get("ipFamilies")
	if families.Len() == 0 {
		families = value.List(value.String("IPv4"))
	}
	two := free && families.Len() == 1 && spec.Get("ipFamilyPolicy").Str() != "SingleStack"
	if other := otherFamily[families.Item(0).Str()]; two && other != "" {
		families = value.List(families.Item(0), value.String(other))
	}
	return service.With("spec", spec.With("ipFamilies", families))
}

// policyOf returns the default IP family policy of a service: the previous one if there is one.
func policyOf(had value.Value, free bool) value.Value {
	switch {
	case had.Str() != "":
		return had
	case free:
		return value.String("RequireDualStack")
	}
	return value.String("SingleStack")
}

var otherFamily = map[string]string{"IPv4": "IPv6", "IPv6": "IPv4"}

// withAllocated returns spec with the addresses and node ports of the old spec that it omits.
func withAllocated(spec, was value.Value) value.Value {
	if spec.Get("clusterIP").Str() == "" && was.Get("clusterIP").Str() != "" {
		spec = spec.With("clusterIP", was.Get("clusterIP"))
	}
	if spec.Get("clusterIPs").Len() == 0 && was.Get("clusterIPs").Len() > 0 && spec.Get("clusterIP").Equal(was.Get("clusterIP")) {
		spec = spec.With("clusterIPs", was.Get("clusterIPs"))
	}
	const health = "healthCheckNodePort"
	if hasHealthPort(spec) && hasHealthPort(was) && spec.Get(health).Int() == 0 {
		spec = spec.With(health, was.Get(health))
	}
	if !hasNodePorts(spec) || !hasNodePorts(was) {
		return spec
	}
	had, used := map[string]value.Value{}, map[int64]bool{}
	for port := range was.Get("ports").Items() {
		had[port.Get("name").Str()] = port.Get("nodePort")
	}
	for port := range spec.Get("ports").Items() {
		used[port.Get("nodePort").Int()] = true
	}
	var ports []value.Value
	for port := range spec.Get("ports").Items() {
		if n := had[port.Get("name").Str()]; port.Get("nodePort").Int() == 0 && !used[n.Int()] {
			port = port.With("nodePort", n)
		}
		ports = append(ports, port)
	}
	return spec.With("ports", value.List(ports...))
}

func hasHealthPort(spec value.Value) bool {
	return spec.Get("type").Str() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Str() == "Local"
}

func hasNodePorts(spec value.Value) bool {
	typ := spec.Get("type").Str()
	return (typ == "NodePort" || typ == "LoadBalancer") && spec.Get("ports").Len() > 0
}
