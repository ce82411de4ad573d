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
	families, policy := familiesOf(ips), "SingleStack"
	if families.Len() > 1 {
		policy = "RequireDualStack"
	}
	return spec.With("ipFamilies", families).With("ipFamilyPolicy", value.String(policy))
}

// familiesOf returns the families of the addresses ips.
func familiesOf(ips value.Value) value.Value {
	families := make([]value.Value, ips.Len())
	for i := range families {
		families[i] = value.String("IPv4")
		if strings.Contains(ips.Item(i).Str(), ":") {
			families[i] = value.String("IPv6")
		}
	}
	return value.List(families...)
}

// preparedService drops fields that a change of type makes unnecessary, unless the client changes the field, too. It keeps what was
// allocated for the service, if the client does not know these fields.
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
	if typ != "ExternalName" && wasType != "ExternalName" && spec.Kind() == value.KindObject {
		spec = withoutSecond(withAllocated(spec, was), was)
	}
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

// withAllocated returns spec with the addresses and ports of was that it omits: the cluster IPs, the port for health checks, and the
// node ports of the ports with the same names.
func withAllocated(spec, was value.Value) value.Value {
	if spec.Get("clusterIP").Str() == "" && was.Get("clusterIP").Str() != "" {
		spec = spec.With("clusterIP", was.Get("clusterIP"))
	}
	if spec.Get("clusterIPs").Len() == 0 && was.Get("clusterIPs").Len() > 0 && spec.Get("clusterIP").Equal(was.Get("clusterIP")) {
		spec = spec.With("clusterIPs", was.Get("clusterIPs"))
	}
	const health = "healthCheckNodePort"
	if needsHealthPort(spec) && needsHealthPort(was) && spec.Get(health).Int() == 0 {
		spec = spec.With(health, was.Get(health))
	}
	if !getsNodePorts(spec) || !getsNodePorts(was) {
		return spec
	}
	had, used := map[string]value.Value{}, map[int64]bool{}
	for port := range was.Get("ports").Items() {
		had[port.Get("name").Str()] = port.Get("nodePort")
	}
	for port := range spec.Get("ports").Items() {
		used[port.Get("nodePort").Int()] = true
	}
	return eachItem(spec, func(port value.Value) value.Value {
		n := had[port.Get("name").Str()]
		if port.Get("nodePort").Int() != 0 || used[n.Int()] {
			return port
		}
		return port.With("nodePort", n)
	}, "ports")
}

// withoutSecond returns spec without the second address and the second family of was, if spec no longer wants them. The addresses stay if
// clusterIP changes: it then stands for the list.
func withoutSecond(spec, was value.Value) value.Value {
	if spec.Get("ipFamilyPolicy").Str() != "SingleStack" {
		return spec
	}
	trim := func(name string) {
		if list := spec.Get(name); list.Len() > 1 && list.Equal(was.Get(name)) {
			spec = spec.With(name, value.List(list.Item(0)))
		}
	}
	if spec.Get("clusterIP").Equal(was.Get("clusterIP")) {
		trim("clusterIPs")
	}
	trim("ipFamilies")
	return spec
}

// withFamiliesOf returns service, which replaces live, with the IP families that follow from its addresses or from those of live, if it
// omits them, and with the policy of live, if it omits that.
func withFamiliesOf(live, service value.Value) value.Value {
	spec, was := service.Get("spec"), live.Get("spec")
	if spec.Get("type").Str() == "ExternalName" || was.Get("type").Str() == "ExternalName" || spec.Kind() != value.KindObject {
		return service
	}
	const families, policy = "ipFamilies", "ipFamilyPolicy"
	if isNothing(spec.Get(policy)) && !isNothing(was.Get(policy)) {
		spec = spec.With(policy, was.Get(policy))
	}
	switch ips := spec.Get("clusterIPs"); {
	case spec.Get(families).Len() > 0:
	case ips.Equal(was.Get("clusterIPs")) && was.Get(families).Len() > 0:
		spec = spec.With(families, was.Get(families))
	case ips.Len() > 0 && ips.Item(0).Str() != "None":
		spec = spec.With(families, familiesOf(ips))
	}
	return service.With("spec", withoutSecond(spec, was))
}

// getsNodePorts reports whether the ports of a service get ports on nodes.
func getsNodePorts(spec value.Value) bool {
	typ, allocate := spec.Get("type").Str(), spec.Get("allocateLoadBalancerNodePorts")
	return typ == "NodePort" || typ == "LoadBalancer" && (isNothing(allocate) || allocate.Bool())
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
