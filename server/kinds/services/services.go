// Package services validates Services, Endpoints and EndpointSlices, and completes Services with what follows from their addresses.
//
// The package allocates no addresses and no node ports: see package registry/services. It validates what was sent together with what follows
// from it without an allocation: see [Families]. Unless it is told otherwise, the cluster has IPv4 alone.
package services

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Validate refuses a Service.
//
// The type decides which fields may be set:
//
//	ClusterIP      addresses inside the cluster; clusterIP "None" makes the service headless
//	NodePort       ... and ports on each node
//	LoadBalancer   ... and a load balancer in front of them
//	ExternalName   a name elsewhere, and nothing else
//
// What [Families.ValidateAddresses] finds comes alone, before this. It does not look at a service that a write of its status creates.
func Validate(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	typ, headless := spec.Text("type"), isHeadless(spec.Value)
	if was := live.Get("spec"); walk.IsSet(live) {
		sameIPs(r, spec, was)
		validateBalancerChange(r, spec, was)
	}
	validateTopologyHints(r, object)
	ports := spec.At("ports")
	if ports.Len() == 0 && !headless && typ != "ExternalName" {
		r.Required(ports, "")
	}
	validateServiceType(r, spec, typ, headless)
	var met walk.Names
	for i := range ports.Indexes() {
		validateServicePort(r, ports.Index(i), ports.Len() > 1, &met)
	}
	r.Labels(spec.At("selector"))
	validateAffinity(r, spec)
	if typ != "ExternalName" {
		validateFamilies(r, spec, live.Get("spec"))
	}
	var had walk.Names
	for ip := range live.Get("spec", "externalIPs").Items() {
		had.Add(ip.Str())
	}
	external := spec.At("externalIPs")
	for i := range external.Indexes() {
		validateReachable(r, external.Index(i), &had)
	}
	r.Among(spec.At("type"), "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
	validatePortsTogether(r, ports, typ)
	validateBalancing(r, object, live, typ)
	validateTraffic(r, spec, typ)
}

// isHeadless reports whether a service has no address.
func isHeadless(spec value.Value) bool {
	ips := spec.Get("clusterIPs")
	return ips.Len() == 1 && ips.Item(0).Str() == "None"
}

// validateTopologyHints refuses two annotations about the topology that differ.
func validateTopologyHints(r *walk.Report, object walk.Place) {
	const old, name = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
	metadata := object.At("metadata")
	annotations := metadata.At("annotations")
	mode, hints := annotations.Below(annotations.Get(name), name, walk.IsKey), annotations.Get(old)
	if mode.IsSet() && walk.IsSet(hints) && !mode.Equal(hints) {
		r.InvalidAs(mode, mode.Str(), "must match annotations["+old+"] when both are specified")
	}
}

// sameIPs refuses other addresses than those that a service has. The second one may come, and go if the policy says so.
//
// A headless service has no addresses to keep, and an external name has none.
func sameIPs(r *walk.Report, spec walk.Place, live value.Value) {
	if spec.Text("type") == "ExternalName" || live.Get("type").Str() == "ExternalName" {
		return
	}
	ips, had := spec.At("clusterIPs"), live.Get("clusterIPs")
	first := func() walk.Place { return ips.Index(0) }
	same := func(i int) bool { return ips.Item(i).Equal(had.Item(i)) }
	switch is, was := ips.Len(), had.Len(); {
	case isHeadless(spec.Value) && isHeadless(live):
	case is == was:
		for i := range is {
			if !same(i) {
				r.InvalidAs(ips.Index(i), ips.ToAny(), onceSet)
			}
		}
	case is == 0:
		r.InvalidAs(first(), ips.ToAny(), "primary clusterIP can not be unset")
	case was > 0 && !same(0):
		r.InvalidAs(first(), ips.ToAny(), onceSet)
	case is < was && spec.Text("ipFamilyPolicy") != "SingleStack":
		r.Invalid(spec.At("ipFamilyPolicy"), "must be set to 'SingleStack' when releasing the secondary clusterIP")
	}
}

// onceSet is what is said of another value of a member that stays once it is set.
const onceSet = "may not change once set"

// validateBalancerChange refuses another class of a load balancer, and another port for its health checks.
func validateBalancerChange(r *walk.Report, spec walk.Place, live value.Value) {
	if class := spec.At("loadBalancerClass"); spec.Text("type") == "LoadBalancer" && live.Get("type").Str() == "LoadBalancer" &&
		!walk.Identical(class.Value, live.Get("loadBalancerClass")) {
		r.InvalidPointer(class, onceSet)
	}
	validateBalancerClass(r, spec)
	const health = "healthCheckNodePort"
	if HasHealthPort(spec.Value) && HasHealthPort(live) && spec.Get(health).Int() != live.Get(health).Int() {
		r.Forbidden(spec.At(health), "field is immutable")
	}
}

// validateServiceType refuses what a service of a type cannot have.
//
// A name with a dot at its end is compared and shown without the dot.
func validateServiceType(r *walk.Report, spec walk.Place, typ string, headless bool) {
	ips := spec.At("clusterIPs")
	switch typ {
	case "LoadBalancer", "NodePort":
		if headless && ips.Len() > 0 {
			r.Invalid(ips.Index(0), "may not be set to 'None' for "+typ+" services")
		}
	case "ExternalName":
		for _, name := range [...]string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if p := spec.At(name); !walk.IsEmpty(p.Value) {
				r.Forbidden(p, "may not be set for ExternalName services")
			}
		}
		name := spec.At("externalName")
		if bare := strings.TrimSuffix(name.Str(), "."); bare == "" {
			r.Required(name, "")
		} else {
			r.InvalidAs(name, bare, validation.IsDNS1123Subdomain(bare)...)
		}
	}
}

// validateServicePort refuses a port, given the names of those before it.
//
// named tells that the service has several ports, which must then have names.
func validateServicePort(r *walk.Report, p walk.Place, named bool, met *walk.Names) {
	if name := p.At("name"); name.Str() != "" {
		r.Label(name)
		if !met.Add(name.Str()) {
			r.Duplicate(name)
		}
	} else if named {
		r.Required(name, "")
	}
	r.Port(p.At("port"))
	r.Among(p.At("protocol"), "SCTP", "TCP", "UDP")
	r.PortOrName(p.At("targetPort"))
	if protocol := p.At("appProtocol"); protocol.IsSet() {
		r.Invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// validateReachable refuses what is no address, or one that is reached from its machine only. What was there before may be written as it likes.
func validateReachable(r *walk.Report, p walk.Place, had *walk.Names) {
	before := len(r.Errs)
	if r.Address(p, had); len(r.Errs) == before {
		validateReachableIP(r, p)
	}
}

// validateReachableIP refuses an IP address that no other node reaches.
func validateReachableIP(r *walk.Report, p walk.Place) {
	switch ip := netutils.ParseIPSloppy(p.Str()); {
	case ip == nil:
		r.InvalidAs(p, p.Str(), "must be a valid IP address")
	case ip.IsUnspecified():
		r.Invalid(p, "may not be unspecified ("+p.Str()+")")
	case ip.IsLoopback():
		r.Invalid(p, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case ip.IsLinkLocalUnicast():
		r.Invalid(p, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case ip.IsLinkLocalMulticast():
		r.Invalid(p, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

// validateAffinity refuses how clients stay with a pod.
func validateAffinity(r *walk.Report, spec walk.Place) {
	affinity, config := spec.At("sessionAffinity"), spec.At("sessionAffinityConfig")
	r.Among(affinity, "ClientIP", "None")
	switch {
	case affinity.Str() == "None" && config.IsSet():
		r.Forbidden(config, "must not be set when session affinity is None")
	case affinity.Str() == "ClientIP" && config.IsSet():
		client := config.At("clientIP")
		if seconds := client.At("timeoutSeconds"); seconds.Int() <= 0 || seconds.Int() > 86400 {
			r.Invalid(seconds, "must be greater than 0 and less than 86400")
		}
	}
}

// validateClusterIPs refuses addresses of a service: no more than one of each family, as its families say. Addresses that were there may stay.
func validateClusterIPs(r *walk.Report, ips walk.Place, live, families value.Value) {
	var had walk.Names
	for ip := range live.Items() {
		had.Add(ip.Str())
	}
	before, headless := len(r.Errs), ips.Len() > 0 && ips.Item(0).Str() == "None"
	for i := range ips.Indexes() {
		switch p := ips.Index(i); {
		case i > 0 || p.Str() != "None":
			r.Address(p, &had)
		case ips.Len() > 1:
			r.Invalid(ips, "'None' must be the first and only value")
		}
	}
	wrong := len(r.Errs) > before
	if ips.Len() > 2 {
		r.Invalid(ips, "may only hold up to 2 values")
	}
	if wrong || headless {
		return
	}
	if ips.Len() > 1 {
		if dual, err := netutils.IsDualStackIPStrings(walk.Texts(ips.Value)); err == nil && !dual {
			r.Invalid(ips, "may specify no more than one IP for each IP family")
		}
	}
	for i := range min(ips.Len(), families.Len()) {
		p, family := ips.Index(i), families.Item(i).Str()
		if six := netutils.IsIPv6String(p.Str()); six && family == "IPv4" || !six && family == "IPv6" {
			r.Invalid(p, "expected an "+family+" value as indicated by `ipFamilies["+strconv.Itoa(i)+"]`")
		}
	}
}

// validatePortsTogether refuses ports that cannot be in one service.
//
// Ports are the same if they have the same protocol and number, on nodes as well as in the service.
func validatePortsTogether(r *walk.Report, ports walk.Place, typ string) {
	if typ == "ClusterIP" {
		for i := range ports.Indexes() {
			p := ports.Index(i)
			if node := p.At("nodePort"); node.Int() != 0 {
				r.Forbidden(node, "may not be used when `type` is 'ClusterIP'")
			}
		}
	}
	var onNode, all walk.Names
	for i := range ports.Indexes() {
		p := ports.Index(i)
		node := p.At("nodePort")
		if node.Int() != 0 && !onNode.Add(p.Text("protocol")+node.String()) {
			r.Duplicate(node)
		}
	}
	for i := range ports.Indexes() {
		p := ports.Index(i)
		if number := p.Get("port"); !all.Add(p.Text("protocol") + number.String()) {
			r.Add(field.Duplicate(p.Path(), twin{Protocol: p.Text("protocol"), Port: number.Int()}))
		}
	}
}

// twin is how a port that comes twice is shown.
type twin struct {
	Name        string
	Protocol    string
	AppProtocol *string
	Port        int64
	TargetPort  int64
	NodePort    int64
}

// validateBalancing refuses what only load balancers have.
//
// The path of the ranges is spelled as in kube-apiserver, with a capital letter.
// The ranges may also be in an annotation, which counts if the member has none. Ranges that were there may stay.
func validateBalancing(r *walk.Report, object walk.Place, live value.Value, typ string) {
	const only = "may only be used when `type` is 'LoadBalancer'"
	spec, balances := object.At("spec"), typ == "LoadBalancer"
	ranges := spec.Below(spec.Get("loadBalancerSourceRanges"), "LoadBalancerSourceRanges", walk.IsMember)
	if ranges.Len() > 0 && !balances {
		r.Forbidden(ranges, only)
	}
	var had []string
	for one := range live.Get("spec", "loadBalancerSourceRanges").Items() {
		had = append(had, strings.TrimSpace(one.Str()))
	}
	for i := range ranges.Indexes() {
		one := ranges.Index(i)
		r.Network(one, strings.TrimSpace(one.Str()), had...)
	}
	const name = "service.beta.kubernetes.io/load-balancer-source-ranges"
	metadata := object.At("metadata")
	annotations := metadata.At("annotations")
	if old := annotations.Below(annotations.Get(name), name, walk.IsKey); ranges.Len() == 0 && old.IsSet() {
		if !balances {
			r.Forbidden(old, only)
		}
		if text := strings.TrimSpace(old.Str()); text != "" && !old.Equal(live.Get("metadata", "annotations", name)) {
			for one := range strings.SplitSeq(text, ",") {
				r.Network(old, strings.TrimSpace(one))
			}
		}
	}
	if p := spec.At("allocateLoadBalancerNodePorts"); p.IsSet() && !balances {
		r.Forbidden(p, only)
	}
	if !walk.IsSet(live) { // otherwise it was validated before
		validateBalancerClass(r, spec)
	}
}

// validateBalancerClass refuses a class of load balancers for other services.
func validateBalancerClass(r *walk.Report, spec walk.Place) {
	switch class := spec.At("loadBalancerClass"); {
	case !class.IsSet():
	case spec.Text("type") == "LoadBalancer":
		r.Invalid(class, validation.IsQualifiedName(class.Str())...)
	default:
		r.Forbidden(class, "may only be used when `type` is 'LoadBalancer'")
	}
}

// validateTraffic refuses where what reaches a service may go.
//
// Only what is reached from outside has a policy for traffic from there.
func validateTraffic(r *walk.Report, spec walk.Place, typ string) {
	policy := spec.At("externalTrafficPolicy")
	reachable := typ == "LoadBalancer" || typ == "NodePort" || typ == "ClusterIP" && spec.Get("externalIPs").Len() > 0
	switch {
	case reachable:
		r.Among(policy, "Cluster", "Local")
	case policy.Str() != "":
		r.Invalid(policy, "may only be set for externally-accessible services")
	}
	switch port := spec.At("healthCheckNodePort"); {
	case port.Int() == 0:
	case typ == "LoadBalancer" && policy.Str() == "Local":
		r.Port(port)
	default:
		r.Invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	if inside := spec.At("internalTrafficPolicy"); inside.IsSet() {
		r.OnlyAmong(inside, "Cluster", "Local")
	}
	if near := spec.At("trafficDistribution"); near.IsSet() {
		r.TextAmong(near, distributions...)
	}
}

// ValidateIngressStatus validates the status of an Ingress.
func ValidateIngressStatus(r *walk.Report, object walk.Place, live value.Value) {
	validateBalancer(r, object.At("status").At("loadBalancer").At("ingress"), live, false)
}

// ValidateStatus validates the status of a Service, which has addresses only behind a load balancer.
func ValidateStatus(r *walk.Report, object walk.Place, live value.Value) {
	ingress := object.At("status").At("loadBalancer").At("ingress")
	if ingress.Len() > 0 && object.Get("spec", "type").Str() != "LoadBalancer" {
		r.Forbidden(ingress, "may only be used when `spec.type` is 'LoadBalancer'")
	} else {
		validateBalancer(r, ingress, live, true)
	}
}

// validateBalancer validates the addresses of a load balancer. Wrong addresses that the live object has may stay.
func validateBalancer(r *walk.Report, p walk.Place, live value.Value, modes bool) {
	var had walk.Names
	for ingress := range live.Get("status", "loadBalancer", "ingress").Items() {
		had.Add(ingress.Get("ip").Str())
	}
	for i := range p.Indexes() {
		ip, mode, host := p.Index(i).At("ip"), p.Index(i).At("ipMode"), p.Index(i).At("hostname")
		if ip.Str() != "" {
			r.Address(ip, &had)
		}
		switch {
		case !modes || !mode.IsSet() && ip.Str() == "":
		case !mode.IsSet():
			r.Required(mode, "must be specified when `ip` is set")
		case ip.Str() == "":
			r.Forbidden(mode, "may not be specified when `ip` is not set")
		default:
			r.OnlyAmong(mode, "Proxy", "VIP")
		}
		if host.Str() != "" {
			r.Invalid(host, validation.IsDNS1123Subdomain(host.Str())...)
			if netutils.ParseIPSloppy(host.Str()) != nil {
				r.Invalid(host, "must be a DNS name, not an IP address")
			}
		}
	}
}
