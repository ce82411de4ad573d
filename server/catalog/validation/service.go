package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// service refuses a Service.
func service(r *report, object place, live value.Value) {
	spec := object.at("spec")
	typ, headless := spec.text("type"), spec.text("clusterIP") == "None"
	if free := headless && spec.Get("selector").Len() == 0; typ != "ExternalName" && !free && r.twoFamilies(spec) {
		return
	}
	ports := spec.at("ports")
	if ports.Len() == 0 && !headless && typ != "ExternalName" {
		r.required(ports, "")
	}
	r.serviceType(spec, typ, headless)
	var met names
	for i := range ports.indexes() {
		r.servicePort(ports.item(i), ports.Len() > 1, &met)
	}
	r.labels(spec.at("selector"))
	r.affinity(spec)
	if typ != "ExternalName" {
		r.families(spec)
	}
	var had names
	for ip := range live.Get("spec", "externalIPs").Items() {
		had.add(ip.Str())
	}
	external := spec.at("externalIPs")
	for i := range external.indexes() {
		r.reachable(external.item(i), &had)
	}
	r.among(spec.at("type"), "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
	r.portsTogether(ports, typ)
	r.balancing(spec, typ)
	r.traffic(spec, typ)
	if !live.IsAbsent() && typ != "ExternalName" && live.Get("spec", "type").Str() != "ExternalName" {
		r.sameIPs(spec, live.Get("spec"))
	}
}

// sameIPs refuses other addresses than those that a service has. The second one may come, and go if the policy says so.
func (r *report) sameIPs(spec place, live value.Value) {
	const changed = "may not change once set"
	ips, had := spec.at("clusterIPs"), live.Get("clusterIPs")
	first := func() place { return ips.item(0) }
	same := func(i int) bool { return ips.Item(i).Equal(had.Item(i)) }
	switch is, was := ips.Len(), had.Len(); {
	case spec.text("clusterIP") == "None" && live.Get("clusterIP").Str() == "None":
	case is == was:
		for i := range is {
			if !same(i) {
				r.invalidAs(ips.item(i), ips.ToAny(), changed)
			}
		}
	case is == 0:
		r.invalidAs(first(), ips.ToAny(), "primary clusterIP can not be unset")
	case was > 0 && !same(0):
		r.invalidAs(first(), ips.ToAny(), changed)
	case is < was && spec.text("ipFamilyPolicy") != "SingleStack":
		r.invalid(spec.at("ipFamilyPolicy"), "must be set to 'SingleStack' when releasing the secondary clusterIP")
	}
}

// twoFamilies refuses families of addresses that the cluster does not have, which is found before anything else; it reports whether there
// are any.
func (r *report) twoFamilies(spec place) bool {
	if policy := spec.at("ipFamilyPolicy"); policy.Str() == "RequireDualStack" {
		r.invalid(policy, "this cluster is not configured for dual-stack services")
	}
	families := spec.at("ipFamilies")
	for i := range families.indexes() {
		if f := families.item(i); f.Str() == "IPv6" {
			r.invalid(f, "not configured on this cluster")
		}
	}
	return len(r.errs) > 0
}

// serviceType refuses what a service of a type cannot have.
func (r *report) serviceType(spec place, typ string, headless bool) {
	ips := spec.at("clusterIPs")
	switch typ {
	case "LoadBalancer", "NodePort":
		if headless && ips.Len() > 0 {
			r.invalid(ips.item(0), "may not be set to 'None' for "+typ+" services")
		}
	case "ExternalName":
		for _, name := range [...]string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if p := spec.at(name); !isEmpty(p.Value) {
				r.forbidden(p, "may not be set for ExternalName services")
			}
		}
		name := spec.at("externalName")
		if bare := strings.TrimSuffix(name.Str(), "."); bare == "" {
			r.required(name, "")
		} else {
			r.invalidAs(name, bare, validation.IsDNS1123Subdomain(bare)...)
		}
	}
}

// servicePort refuses a port, given the names of those before it.
func (r *report) servicePort(p place, named bool, met *names) {
	if name := p.at("name"); name.Str() != "" {
		r.label(name)
		if !met.add(name.Str()) {
			r.duplicate(name)
		}
	} else if named {
		r.required(name, "")
	}
	r.port(p.at("port"))
	r.among(p.at("protocol"), "SCTP", "TCP", "UDP")
	r.portOrName(p.at("targetPort"))
	if protocol := p.at("appProtocol"); protocol.is() {
		r.invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// reachable refuses what is no address, or one that is reached from its machine only. What was there before may be written as it likes.
func (r *report) reachable(p place, had *names) {
	before := len(r.errs)
	r.address(p, had)
	if ip := netutils.ParseIPSloppy(p.Str()); len(r.errs) == before {
		switch {
		case ip == nil:
			r.invalid(p, "must be a valid IP address")
		case ip.IsUnspecified():
			r.invalid(p, "may not be unspecified ("+p.Str()+")")
		case ip.IsLoopback():
			r.invalid(p, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
		case ip.IsLinkLocalUnicast():
			r.invalid(p, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
		case ip.IsLinkLocalMulticast():
			r.invalid(p, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
		}
	}
}

// affinity refuses how clients stay with a pod.
func (r *report) affinity(spec place) {
	affinity, config := spec.at("sessionAffinity"), spec.at("sessionAffinityConfig")
	r.among(affinity, "ClientIP", "None")
	switch {
	case affinity.Str() == "None" && config.is():
		r.forbidden(config, "must not be set when session affinity is None")
	case affinity.Str() == "ClientIP" && config.is():
		client := config.at("clientIP")
		if seconds := client.at("timeoutSeconds"); seconds.Int() <= 0 || seconds.Int() > 86400 {
			r.invalid(seconds, "must be greater than 0 and less than 86400")
		}
	}
}

// families refuses addresses of a service, and which there may be.
func (r *report) families(spec place) {
	ip, ips := spec.text("clusterIP"), spec.at("clusterIPs")
	if ip == "" && ips.Len() > 0 {
		r.invalid(ips, "must be empty when `clusterIP` is not specified")
	} else if ips.Len() > 0 && ips.Item(0).Str() != ip {
		r.invalid(ips, "first value must match `clusterIP`")
	}
	families := spec.at("ipFamilies")
	for i := range families.indexes() {
		r.onlyAmong(families.item(i), "IPv4", "IPv6")
	}
	if policy := spec.at("ipFamilyPolicy"); policy.is() {
		r.onlyAmong(policy, "PreferDualStack", "RequireDualStack", "SingleStack")
	}
	for i := range ips.indexes() {
		if p := ips.item(i); i > 0 || p.Str() != "None" {
			r.address(p, nil)
		}
	}
}

// portsTogether refuses ports that cannot be in one service.
func (r *report) portsTogether(ports place, typ string) {
	if typ == "ClusterIP" {
		for i := range ports.indexes() {
			p := ports.item(i)
			if node := p.at("nodePort"); node.Int() != 0 {
				r.forbidden(node, "may not be used when `type` is 'ClusterIP'")
			}
		}
	}
	var onNode, all names
	for i := range ports.indexes() {
		p := ports.item(i)
		node := p.at("nodePort")
		if node.Int() != 0 && !onNode.add(p.text("protocol")+node.String()) {
			r.duplicate(node)
		}
	}
	for i := range ports.indexes() {
		p := ports.item(i)
		if number := p.Get("port"); !all.add(p.text("protocol") + number.String()) {
			r.add(field.Duplicate(p.path(), twin{Protocol: p.text("protocol"), Port: number.Int()}))
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

// balancing refuses what only load balancers have.
func (r *report) balancing(spec place, typ string) {
	balances := typ == "LoadBalancer"
	ranges := spec.below(spec.Get("loadBalancerSourceRanges"), "LoadBalancerSourceRanges", isMember)
	if ranges.Len() > 0 && !balances {
		r.forbidden(ranges, "may only be used when `type` is 'LoadBalancer'")
	}
	for i := range ranges.indexes() {
		one := ranges.item(i)
		r.errs = append(r.errs, validation.IsValidCIDRForLegacyField(one.path(), strings.TrimSpace(one.Str()), true, nil)...)
	}
	for _, name := range [...]string{"allocateLoadBalancerNodePorts", "loadBalancerClass"} {
		if p := spec.at(name); p.is() && !balances {
			r.forbidden(p, "may only be used when `type` is 'LoadBalancer'")
		}
	}
}

// traffic refuses where what reaches a service may go.
func (r *report) traffic(spec place, typ string) {
	policy := spec.at("externalTrafficPolicy")
	reachable := typ == "LoadBalancer" || typ == "NodePort" || typ == "ClusterIP" && spec.Get("externalIPs").Len() > 0
	switch {
	case reachable:
		r.among(policy, "Cluster", "Local")
	case policy.Str() != "":
		r.invalid(policy, "may only be set for externally-accessible services")
	}
	if port := spec.at("healthCheckNodePort"); port.Int() != 0 && !(typ == "LoadBalancer" && policy.Str() == "Local") {
		r.invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	if inside := spec.at("internalTrafficPolicy"); typ != "ExternalName" && inside.is() {
		r.onlyAmong(inside, "Cluster", "Local")
	}
	if near := spec.at("trafficDistribution"); near.is() {
		r.textAmong(near, distributions...)
	}
}

// distributions are which endpoints are preferred.
var distributions = []string{"PreferClose", "PreferSameZone", "PreferSameNode"}
