package builtin

import (
	"strings"

	"github.com/deed-project/deed/value"
)

// IsDecorated reports whether a server shows some objects of the kind in another form than the stored one: see [Kind.Shown].
func (k *Kind) IsDecorated() bool {
	k = k.known()
	return k.GVK.Kind == "Service" && k.GVK.Group == ""
}

// Shown returns a stored object as a server shows it. Only two forms of Services differ:
//
//	an external name          shows no internalTrafficPolicy, although a former one is stored and becomes visible with another type; its
//	                          clusterIP, if any, is in clusterIPs, too
//	addresses, no ipFamilies  a write of the status has created the Service; the families are those of the addresses
func (k *Kind) Shown(object value.Value) value.Value {
	if !k.IsDecorated() {
		return object
	}
	spec := object.Get("spec")
	ip, ips := spec.Get("clusterIP"), spec.Get("clusterIPs")
	switch {
	case spec.Get("type").Str() == "ExternalName":
	case spec.Get("ipFamilies").Len() == 0 && ips.Len() > 0:
		return object.With("spec", withFamilies(spec, ips))
	default:
		return object
	}
	if !spec.Get("internalTrafficPolicy").IsAbsent() {
		spec = spec.With("internalTrafficPolicy", value.Value{})
	}
	if ip.Str() != "" && ips.Len() == 0 {
		spec = spec.With("clusterIPs", value.List(ip))
	}
	return object.With("spec", spec)
}

// withFamilies returns spec with the families of the addresses ips. It returns spec itself if the address is None.
func withFamilies(spec, ips value.Value) value.Value {
	if ips.Item(0).Str() == "None" {
		return spec
	}
	families, policy := make([]value.Value, ips.Len()), "SingleStack"
	for i := range families {
		families[i] = value.String("IPv4")
		if strings.Contains(ips.Item(i).Str(), ":") {
			families[i] = value.String("IPv6")
		}
	}
	if len(families) > 1 {
		policy = "RequireDualStack"
	}
	return spec.With("ipFamilies", value.List(families...)).With("ipFamilyPolicy", value.String(policy))
}

// preparedService drops fields that a change of type makes unnecessary, unless the client changes the field, too.
func preparedService(k *Kind, subresource string, live, service value.Value) value.Value {
	spec := service.Get("spec")
	if subresource != "" || live.IsAbsent() {
		return service
	}
	was := live.Get("spec")
	typ, wasType := spec.Get("type").Str(), was.Get("type").Str()
	drop := func(needs func(spec value.Value) bool, names ...string) {
		if !needs(was) || needs(spec) {
			return
		}
		for _, name := range names {
			if spec.Get(name).Equal(was.Get(name)) {
				spec = spec.With(name, value.Value{})
			}
		}
	}
	isType := func(name string) func(value.Value) bool {
		return func(spec value.Value) bool { return spec.Get("type").Str() == name }
	}
	if typ == "ExternalName" && wasType != "ExternalName" {
		clusterIP := func(spec value.Value) bool { return spec.Get("type").Str() != "ExternalName" }
		drop(clusterIP, "ipFamilies", "ipFamilyPolicy")
		spec = withoutAddresses(spec, was)
	}
	if hasNodePorts(was) && !hasNodePorts(spec) && onlyPortsOf(was, spec) {
		spec = eachItem(spec, func(port value.Value) value.Value { return port.With("nodePort", value.Value{}) }, "ports")
	}
	drop(needsHealthPort, "healthCheckNodePort")
	drop(isType("LoadBalancer"), "allocateLoadBalancerNodePorts", "loadBalancerClass")
	drop(externallyAccessible, "externalTrafficPolicy")
	service = service.With("spec", spec)
	if typ != "LoadBalancer" {
		service = within(service, func(status value.Value) value.Value {
			return status.With("loadBalancer", value.Object())
		}, "status")
	}
	return service
}

// withoutAddresses returns spec without the addresses of was. A changed address stays, so that validation refuses it. A client that does
// not know both fields sends a spec without a clusterIP, or without the clusterIPs of was.
func withoutAddresses(spec, was value.Value) value.Value {
	ip, ips, had := spec.Get("clusterIP"), spec.Get("clusterIPs"), was.Get("clusterIPs")
	isSame := ip.Str() == was.Get("clusterIP").Str()
	if ips.Equal(had) && (isSame || ip.Str() == "") || isSame && ips.Len() == 0 {
		return spec.With("clusterIP", value.Value{}).With("clusterIPs", value.Value{})
	}
	return spec
}

// hasNodePorts reports whether a service may have node ports.
func hasNodePorts(spec value.Value) bool {
	typ := spec.Get("type").Str()
	return typ == "NodePort" || typ == "LoadBalancer"
}

func needsHealthPort(spec value.Value) bool {
	return spec.Get("type").Str() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Str() == "Local"
}

func externallyAccessible(spec value.Value) bool {
	typ := spec.Get("type").Str()
	return typ == "LoadBalancer" || typ == "NodePort" || typ == "ClusterIP" && spec.Get("externalIPs").Len() > 0
}

// onlyPortsOf reports whether each node port of a service was in was. Ports without one do not count.
func onlyPortsOf(was, spec value.Value) bool {
	had := map[int64]bool{0: true}
	for port := range was.Get("ports").Items() {
		had[port.Get("nodePort").Int()] = true
	}
	for port := range spec.Get("ports").Items() {
		if !had[port.Get("nodePort").Int()] {
			return false
		}
	}
	return true
}
