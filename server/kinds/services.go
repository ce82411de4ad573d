package kinds

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// Services and their endpoints. A server would allocate addresses and node ports. This one allocates none, and validates what was sent
// together with what follows from it without an allocation: see clusterFamilies. Unless it is told otherwise, the cluster has IPv4 alone.

// validateService refuses a Service.
//
// The type decides which fields may be set:
//
//	ClusterIP      addresses inside the cluster; clusterIP "None" makes the service headless
//	NodePort       ... and ports on each node
//	LoadBalancer   ... and a load balancer in front of them
//	ExternalName   a name elsewhere, and nothing else
//
// What validateAddresses finds comes alone, before this.
func validateService(r *report, object place, live value.Value) {
	spec := object.at("spec")
	typ, headless := spec.text("type"), isHeadless(spec.Value)
	if was := live.Get("spec"); isSet(live) {
		r.sameIPs(spec, was)
		r.balancerChange(spec, was)
	}
	r.topologyHints(object)
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
	r.balancing(object, live, typ)
	r.traffic(spec, typ)
}

// isHeadless reports whether a service has no address.
func isHeadless(spec value.Value) bool {
	ips := spec.Get("clusterIPs")
	return ips.Len() == 1 && ips.Item(0).Str() == "None"
}

// clusterFamilies are the families of addresses that services of a cluster get, IPv4 or IPv6 or both. The first one is the default.
type clusterFamilies []string

// ipv4Only are the families of a cluster that is not told otherwise.
var ipv4Only = clusterFamilies{"IPv4"}

// WithFamilies returns the kind for a cluster whose services get addresses of these families, the default one first. Kinds other than Service
// stay as they are.
func (k Kind) WithFamilies(families ...string) Kind {
	if k.Traits.Name != "Service" || k.Traits.Group != "" || len(families) == 0 {
		return k
	}
	traits, of := *k.Traits, clusterFamilies(families)
	traits.early, traits.complete = of.validateAddresses, of.complete
	k.Traits = &traits
	return k
}

// validateAddresses refuses addresses of a Service, and families of addresses. kube-apiserver does so when it allocates them, before it
// validates the service and its metadata.
func (c clusterFamilies) validateAddresses(r *report, object place, live value.Value) {
	spec, was := object.at("spec"), live.Get("spec")
	if spec.text("type") == "ExternalName" || staysPreferred(spec.Value, was) {
		return
	}
	if r.families(spec, was); len(r.errs) > 0 {
		return
	}
	if r.familiesOf(spec, was, c); len(r.errs) > 0 {
		return
	}
	if free := spec.text("clusterIP") == "None" && spec.Get("selector").Len() == 0; !free {
		r.knownFamilies(spec, c)
	}
}

// staysPreferred reports whether a service that prefers two families keeps its addresses and families. Such a service stays as it is, even if
// the cluster has other families now.
func staysPreferred(spec, was value.Value) bool {
	const prefer = "PreferDualStack"
	return spec.Get("ipFamilyPolicy").Str() == prefer && was.Get("ipFamilyPolicy").Str() == prefer &&
		spec.Get("type").Equal(was.Get("type")) &&
		spec.Get("clusterIPs").Equal(was.Get("clusterIPs")) && spec.Get("ipFamilies").Equal(was.Get("ipFamilies"))
}

// topologyHints refuses two annotations about the topology that differ.
func (r *report) topologyHints(object place) {
	const old, name = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
	metadata := object.at("metadata")
	annotations := metadata.at("annotations")
	mode, hints := annotations.below(annotations.Get(name), name, isKey), annotations.Get(old)
	if mode.is() && isSet(hints) && !mode.Equal(hints) {
		r.invalidAs(mode, mode.Str(), "must match annotations["+old+"] when both are specified")
	}
}

// sameIPs refuses other addresses than those that a service has. The second one may come, and go if the policy says so.
//
// A headless service has no addresses to keep, and an external name has none.
func (r *report) sameIPs(spec place, live value.Value) {
	if spec.text("type") == "ExternalName" || live.Get("type").Str() == "ExternalName" {
		return
	}
	ips, had := spec.at("clusterIPs"), live.Get("clusterIPs")
	first := func() place { return ips.item(0) }
	same := func(i int) bool { return ips.Item(i).Equal(had.Item(i)) }
	switch is, was := ips.Len(), had.Len(); {
	case isHeadless(spec.Value) && isHeadless(live):
	case is == was:
		for i := range is {
			if !same(i) {
				r.invalidAs(ips.item(i), ips.ToAny(), onceSet)
			}
		}
	case is == 0:
		r.invalidAs(first(), ips.ToAny(), "primary clusterIP can not be unset")
	case was > 0 && !same(0):
		r.invalidAs(first(), ips.ToAny(), onceSet)
	case is < was && spec.text("ipFamilyPolicy") != "SingleStack":
		r.invalid(spec.at("ipFamilyPolicy"), "must be set to 'SingleStack' when releasing the secondary clusterIP")
	}
}

// onceSet is what is said of another value of a member that stays once it is set.
const onceSet = "may not change once set"

// balancerChange refuses another class of a load balancer, and another port for its health checks.
func (r *report) balancerChange(spec place, live value.Value) {
	if class := spec.at("loadBalancerClass"); spec.text("type") == "LoadBalancer" && live.Get("type").Str() == "LoadBalancer" &&
		!identical(class.Value, live.Get("loadBalancerClass")) {
		r.invalid(class, onceSet)
	}
	r.balancerClass(spec)
	const health = "healthCheckNodePort"
	if hasHealthPort(spec.Value) && hasHealthPort(live) && spec.Get(health).Int() != live.Get(health).Int() {
		r.forbidden(spec.at(health), "field is immutable")
	}
}

// familiesOf refuses more addresses or families than the policy of a service has, and addresses of families that the cluster does not have.
func (r *report) familiesOf(spec place, live value.Value, has clusterFamilies) {
	policy, ips, families := spec.at("ipFamilyPolicy"), spec.at("clusterIPs"), spec.Get("ipFamilies")
	if isSet(live) && policy.Str() != "SingleStack" {
		const detail = "must be 'SingleStack' to release the secondary "
		if n := ips.Len(); n > 0 && n < live.Get("clusterIPs").Len() {
			r.invalid(policy, detail+"cluster IP")
		}
		if n := families.Len(); n > 0 && n < live.Get("ipFamilies").Len() {
			r.invalid(policy, detail+"IP family")
		}
	}
	if policy.Str() == "SingleStack" {
		const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
		if ips.Len() == 2 && !ips.Equal(live.Get("clusterIPs")) {
			r.invalid(policy, detail+"cluster IPs are specified")
		}
		if families.Len() == 2 && !families.Equal(live.Get("ipFamilies")) {
			r.invalid(policy, detail+"IP families are specified")
		}
	}
	for i := families.Len(); i < ips.Len(); i++ {
		if ip := ips.item(i); ip.Str() != "None" && !slices.Contains(has, familyOf(ip.Str())) {
			r.invalidAs(ip, ips.ToAny(), familyOf(ip.Str())+" is not configured on this cluster")
		}
	}
}

// knownFamilies refuses families of addresses that the cluster does not have.
func (r *report) knownFamilies(spec place, has clusterFamilies) {
	if policy := spec.at("ipFamilyPolicy"); policy.Str() == "RequireDualStack" && len(has) < 2 {
		r.invalid(policy, "this cluster is not configured for dual-stack services")
	}
	families := spec.at("ipFamilies")
	for i := range families.indexes() {
		if f := families.item(i); !slices.Contains(has, f.Str()) {
			r.invalid(f, "not configured on this cluster")
		}
	}
}

// familyOf returns the family of an address.
func familyOf(ip string) string {
	if netutils.IsIPv6String(ip) {
		return "IPv6"
	}
	return "IPv4"
}

// serviceType refuses what a service of a type cannot have.
//
// A name with a dot at its end is compared and shown without the dot.
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
//
// named tells that the service has several ports, which must then have names.
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
	if r.address(p, had); len(r.errs) == before {
		r.reachableIP(p)
	}
}

// reachableIP refuses an IP address that no other node reaches.
func (r *report) reachableIP(p place) {
	switch ip := netutils.ParseIPSloppy(p.Str()); {
	case ip == nil:
		r.invalidAs(p, p.Str(), "must be a valid IP address")
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
//
// clusterIP is the first of clusterIPs: older clients know only the former.
func (r *report) families(spec place, live value.Value) {
	ip, ips := spec.text("clusterIP"), spec.at("clusterIPs")
	if ip == "" && ips.Len() > 0 {
		r.invalid(ips, "must be empty when `clusterIP` is not specified")
	} else if ips.Len() > 0 && ips.Item(0).Str() != ip {
		r.invalid(ips, "first value must match `clusterIP`")
	}
	families := spec.at("ipFamilies")
	var met names
	for i := range families.indexes() {
		f := families.item(i)
		r.onlyAmong(f, "IPv4", "IPv6")
		if !met.add(f.Str()) {
			r.duplicate(f)
		}
	}
	if policy := spec.at("ipFamilyPolicy"); policy.is() {
		r.onlyAmong(policy, "PreferDualStack", "RequireDualStack", "SingleStack")
	}
	r.clusterIPs(ips, live.Get("clusterIPs"), families.Value)
}

// clusterIPs refuses addresses of a service: no more than one of each family, as its families say. Addresses that were there may stay.
func (r *report) clusterIPs(ips place, live, families value.Value) {
	var had names
	for ip := range live.Items() {
		had.add(ip.Str())
	}
	before, headless := len(r.errs), ips.Len() > 0 && ips.Item(0).Str() == "None"
	for i := range ips.indexes() {
		switch p := ips.item(i); {
		case i > 0 || p.Str() != "None":
			r.address(p, &had)
		case ips.Len() > 1:
			r.invalid(ips, "'None' must be the first and only value")
		}
	}
	wrong := len(r.errs) > before
	if ips.Len() > 2 {
		r.invalid(ips, "may only hold up to 2 values")
	}
	if wrong || headless {
		return
	}
	if ips.Len() > 1 {
		if dual, err := netutils.IsDualStackIPStrings(texts(ips.Value)); err == nil && !dual {
			r.invalid(ips, "may specify no more than one IP for each IP family")
		}
	}
	for i := range min(ips.Len(), families.Len()) {
		p, family := ips.item(i), families.Item(i).Str()
		if six := netutils.IsIPv6String(p.Str()); six && family == "IPv4" || !six && family == "IPv6" {
			r.invalid(p, "expected an "+family+" value as indicated by `ipFamilies["+strconv.Itoa(i)+"]`")
		}
	}
}

// portsTogether refuses ports that cannot be in one service.
//
// Ports are the same if they have the same protocol and number, on nodes as well as in the service.
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
//
// The path of the ranges is spelled as in kube-apiserver, with a capital letter.
// The ranges may also be in an annotation, which counts if the member has none. Ranges that were there may stay.
func (r *report) balancing(object place, live value.Value, typ string) {
	const only = "may only be used when `type` is 'LoadBalancer'"
	spec, balances := object.at("spec"), typ == "LoadBalancer"
	ranges := spec.below(spec.Get("loadBalancerSourceRanges"), "LoadBalancerSourceRanges", isMember)
	if ranges.Len() > 0 && !balances {
		r.forbidden(ranges, only)
	}
	var had []string
	for one := range live.Get("spec", "loadBalancerSourceRanges").Items() {
		had = append(had, strings.TrimSpace(one.Str()))
	}
	for i := range ranges.indexes() {
		one := ranges.item(i)
		r.errs = append(r.errs, validation.IsValidCIDRForLegacyField(one.path(), strings.TrimSpace(one.Str()), true, had)...)
	}
	const name = "service.beta.kubernetes.io/load-balancer-source-ranges"
	metadata := object.at("metadata")
	annotations := metadata.at("annotations")
	if old := annotations.below(annotations.Get(name), name, isKey); ranges.Len() == 0 && old.is() {
		if !balances {
			r.forbidden(old, only)
		}
		if text := strings.TrimSpace(old.Str()); text != "" && !old.Equal(live.Get("metadata", "annotations", name)) {
			for one := range strings.SplitSeq(text, ",") {
				r.errs = append(r.errs, validation.IsValidCIDRForLegacyField(old.path(), strings.TrimSpace(one), true, nil)...)
			}
		}
	}
	if p := spec.at("allocateLoadBalancerNodePorts"); p.is() && !balances {
		r.forbidden(p, only)
	}
	if !isSet(live) { // otherwise it was validated before
		r.balancerClass(spec)
	}
}

// balancerClass refuses a class of load balancers for other services.
func (r *report) balancerClass(spec place) {
	switch class := spec.at("loadBalancerClass"); {
	case !class.is():
	case spec.text("type") == "LoadBalancer":
		r.invalid(class, validation.IsQualifiedName(class.Str())...)
	default:
		r.forbidden(class, "may only be used when `type` is 'LoadBalancer'")
	}
}

// traffic refuses where what reaches a service may go.
//
// Only what is reached from outside has a policy for traffic from there.
func (r *report) traffic(spec place, typ string) {
	policy := spec.at("externalTrafficPolicy")
	reachable := typ == "LoadBalancer" || typ == "NodePort" || typ == "ClusterIP" && spec.Get("externalIPs").Len() > 0
	switch {
	case reachable:
		r.among(policy, "Cluster", "Local")
	case policy.Str() != "":
		r.invalid(policy, "may only be set for externally-accessible services")
	}
	switch port := spec.at("healthCheckNodePort"); {
	case port.Int() == 0:
	case typ == "LoadBalancer" && policy.Str() == "Local":
		r.port(port)
	default:
		r.invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	if inside := spec.at("internalTrafficPolicy"); inside.is() {
		r.onlyAmong(inside, "Cluster", "Local")
	}
	if near := spec.at("trafficDistribution"); near.is() {
		r.textAmong(near, distributions...)
	}
}

// distributions are which endpoints are preferred.
var distributions = []string{"PreferClose", "PreferSameZone", "PreferSameNode"}

// validateEndpointSlice refuses an EndpointSlice.
//
// Endpoints that do not change are not validated again: they may have been stored under other rules. The type of addresses never changes.
func validateEndpointSlice(r *report, object place, live value.Value) {
	ports, endpoints, typ := object.at("ports"), object.at("endpoints"), object.at("addressType")
	var met names
	for i := range ports.indexes() {
		r.slicePort(ports.item(i), &met)
	}
	if !isSet(live) || !r.same(endpoints, live.Get("endpoints")) {
		for i := range endpoints.indexes() {
			r.endpoint(endpoints.item(i), typ.Str())
		}
	}
	switch typ.Str() {
	case "":
		r.later(typ, "")
	case "FQDN", "IPv4", "IPv6":
	default:
		r.last = append(r.last, field.NotSupported(typ.path(), Enumeration(typ.Str()), []string{"FQDN", "IPv4", "IPv6"}))
	}
	if isSet(live) && !typ.Equal(live.Get("addressType")) {
		r.laterInvalid(typ, nil, "field is immutable")
	}
}

// slicePort refuses a port, given the names of those before it.
func (r *report) slicePort(p place, met *names) {
	name := p.at("name")
	if name.Str() != "" {
		r.label(name)
	}
	if !met.add(name.Str()) {
		r.add(field.Duplicate(name.path(), name.Str()))
	}
	if protocol := p.at("protocol"); !protocol.is() {
		r.required(protocol, "")
	} else {
		r.onlyAmong(protocol, "SCTP", "TCP", "UDP")
	}
	if protocol := p.at("appProtocol"); protocol.is() {
		r.invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// endpoint refuses what is at addresses of a type.
func (r *report) endpoint(p place, typ string) {
	addresses := p.at("addresses")
	if addresses.Len() == 0 {
		r.later(addresses, "")
	}
	if addresses.Len() > mostAddressesOfEndpoint {
		r.last = append(r.last, field.TooMany(addresses.path(), addresses.Len(), mostAddressesOfEndpoint))
	}
	for i := range addresses.indexes() {
		r.endpointOf(addresses.item(i), addresses, typ)
	}
	if node := p.at("nodeName"); node.is() {
		r.subdomain(node)
	}
	if host := p.at("hostname"); host.is() {
		r.label(host)
	}
	r.hints(p.at("hints"))
}

// mostAddressesOfEndpoint is how many addresses an endpoint may have.
const mostAddressesOfEndpoint = 100

// endpointOf refuses an address that is not of a type. The type is validated elsewhere: addresses of an unknown one are not.
func (r *report) endpointOf(a, addresses place, typ string) {
	before := len(r.errs)
	switch typ {
	case "FQDN":
		r.errs = append(r.errs, validation.IsFullyQualifiedDomainName(a.path(), a.Str())...)
		return
	case "IPv4":
		r.address(a, nil)
	case "IPv6":
		r.errs = append(r.errs, validation.IsValidIP(a.path(), a.Str())...)
	default:
		return
	}
	if len(r.errs) > before {
		return
	}
	if netutils.IsIPv6String(a.Str()) != (typ == "IPv6") {
		r.invalidAs(addresses, a.Str(), "must be an "+typ+" address")
	}
	if ip := netutils.ParseIPSloppy(a.Str()); !ip.IsLoopback() { // which leads to webhooks of tests, where the server looks for those of services
		r.reachableIP(a)
	}
}

// mostHints is how many zones, and how many nodes, may be meant to use an endpoint.
const mostHints = 8

// hints refuses which zones and nodes should use an endpoint. Too many of them end the check.
func (r *report) hints(p place) {
	for _, name := range [...]string{"forZones", "forNodes"} {
		list := p.at(name)
		if list.Len() > mostHints {
			r.add(field.TooMany(list.path(), list.Len(), mostHints))
			return
		}
		var met names
		for i := range list.indexes() {
			of := list.item(i).at("name")
			if !met.add(of.Str()) {
				r.add(field.Duplicate(of.path(), of.Str()))
			}
			if name == "forZones" {
				r.invalidAs(of, of.Str(), validation.IsValidLabelValue(of.Str())...)
			} else {
				r.invalidAs(of, of.Str(), validation.IsDNS1123Subdomain(of.Str())...)
			}
		}
	}
}

// complete completes the spec of a service, new or as the successor of live, with the fields that follow from its addresses and from the
// families of the cluster. Nothing is allocated.
//
//	kept     fields of live that the service omits: addresses, the health check port, and node ports by the
//	         names of ports
//	listed   clusterIPs begins with clusterIP
//	policy   one family, except for a headless service without a selector, which may have both
//	families those of the addresses, else the default one, followed by the other one where two are wanted
func (c clusterFamilies) complete(service, live, _ value.Value) value.Value {
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
	if elsewhere || staysPreferred(spec, was) {
		return service.With("spec", spec)
	}
	free := ip.Str() == "None" && spec.Get("selector").Len() == 0
	if !isSet(spec.Get("ipFamilyPolicy")) {
		spec = spec.With("ipFamilyPolicy", policyOf(was.Get("ipFamilyPolicy"), free))
	}
	families, isSingle := spec.Get("ipFamilies"), spec.Get("ipFamilyPolicy").Str() == "SingleStack"
	if isSingle && isSet(was) { // one of two goes
		if ips := spec.Get("clusterIPs"); ips.Len() > 1 && ips.Equal(had) {
			spec = spec.With("clusterIPs", value.List(ips.Item(0)))
		}
		if families.Len() > 1 && families.Equal(was.Get("ipFamilies")) {
			families = value.List(families.Item(0))
		}
	}
	isReduced := !isSingle && families.Len() > 0 && families.Len() < was.Get("ipFamilies").Len()
	families, isKnown := c.inferred(families, spec.Get("clusterIPs"), isSingle || isReduced)
	if !isKnown || isReduced { // which validateAddresses refuses
		return service.With("spec", withList(spec, "ipFamilies", families))
	}
	if families.Len() == 0 {
		families = value.List(value.String(c[0]))
	}
	two := (free || len(c) == 2) && families.Len() == 1 && !isSingle
	if other := otherFamily[families.Item(0).Str()]; two && other != "" {
		families = value.List(families.Item(0), value.String(other))
	}
	return service.With("spec", spec.With("ipFamilies", families))
}

// inferred returns families with those of the addresses that have none. isKnown says whether the cluster has all of them, once each. A service
// of one family gets no second one.
func (c clusterFamilies) inferred(families, ips value.Value, isSingle bool) (out value.Value, isKnown bool) {
	all := slices.Collect(families.Items())
	for i := len(all); i < ips.Len() && (i == 0 || !isSingle); i++ {
		ip := ips.Item(i).Str()
		if ip == "None" {
			break
		}
		family := familyOf(ip)
		if !slices.Contains(c, family) || slices.ContainsFunc(all, func(f value.Value) bool { return f.Str() == family }) {
			return value.List(all...), false
		}
		all = append(all, value.String(family))
	}
	return value.List(all...), true
}

// withList returns an object with a list, or as it is for an empty list.
func withList(object value.Value, name string, list value.Value) value.Value {
	if list.Len() == 0 {
		return object
	}
	return object.With(name, list)
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

// hasHealthPort reports whether a service has a port for health checks of its nodes.
func hasHealthPort(spec value.Value) bool {
	return spec.Get("type").Str() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Str() == "Local"
}

// hasNodePorts reports whether a service has ports on nodes.
func hasNodePorts(spec value.Value) bool {
	typ := spec.Get("type").Str()
	return (typ == "NodePort" || typ == "LoadBalancer") && spec.Get("ports").Len() > 0
}

// validateEndpoints refuses Endpoints.
//
// A subset is the product of its addresses and its ports.
func validateEndpoints(r *report, object place, _ value.Value) {
	subsets := object.at("subsets")
	for i := range subsets.indexes() {
		s := subsets.item(i)
		if s.Get("addresses").Len() == 0 && s.Get("notReadyAddresses").Len() == 0 {
			r.required(s, "must specify `addresses` or `notReadyAddresses`")
		}
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			addresses := s.at(list)
			for i := range addresses.indexes() {
				r.endpointAddress(addresses.item(i))
			}
		}
		ports := s.at("ports")
		for i := range ports.indexes() {
			r.endpointPort(ports.item(i), ports.Len() > 1)
		}
	}
}

// endpointAddress refuses an address of endpoints, with its name and node.
func (r *report) endpointAddress(p place) {
	ip := p.at("ip")
	r.address(ip, nil)
	if host := p.at("hostname"); host.Str() != "" {
		r.label(host)
	}
	if node := p.at("nodeName"); node.is() {
		r.invalidAs(node, node.Str(), validation.IsDNS1123Subdomain(node.Str())...)
	}
	r.reachableIP(ip)
}

// endpointPort refuses a port of endpoints, which must be named beside others.
func (r *report) endpointPort(p place, named bool) {
	if name := p.at("name"); name.Str() != "" {
		r.label(name)
	} else if named {
		r.required(name, "")
	}
	r.port(p.at("port"))
	r.among(p.at("protocol"), "SCTP", "TCP", "UDP")
	if protocol := p.at("appProtocol"); protocol.is() {
		r.invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// endpointsOf shows the first three addresses of Endpoints, each with every port that there is.
func endpointsOf(s source) string {
	if s.Get("subsets").Len() == 0 {
		return none
	}
	var all []string
	for subset := range s.Get("subsets").Items() {
		addresses := namesIn(subset.Get("addresses"), "ip")
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
	ips := texts(s.Get("spec", "externalIPs"))
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
		out = append(out, texts(endpoint.Get("addresses"))...)
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
		when: func(service value.Value) bool { return hasHealthPort(service.Get("spec")) },
	},
}

// needsNodePorts reports whether a service gets node ports by default.
func needsNodePorts(service value.Value) bool {
	spec := service.Get("spec")
	allocate := spec.Get("allocateLoadBalancerNodePorts")
	typ := spec.Get("type").Str()
	return typ == "NodePort" || typ == "LoadBalancer" && (!isSet(allocate) || allocate.Bool())
}

// validateIngressStatus validates the status of an Ingress.
func validateIngressStatus(r *report, object place, live value.Value) {
	r.balancer(object.at("status").at("loadBalancer").at("ingress"), live, false)
}

// validateServiceStatus validates the status of a Service, which has addresses only behind a load balancer.
func validateServiceStatus(r *report, object place, live value.Value) {
	ingress := object.at("status").at("loadBalancer").at("ingress")
	if ingress.Len() > 0 && object.Get("spec", "type").Str() != "LoadBalancer" {
		r.forbidden(ingress, "may only be used when `spec.type` is 'LoadBalancer'")
	} else {
		r.balancer(ingress, live, true)
	}
}

// balancer validates the addresses of a load balancer. Wrong addresses that the live object has may stay.
func (r *report) balancer(p place, live value.Value, modes bool) {
	var had names
	for ingress := range live.Get("status", "loadBalancer", "ingress").Items() {
		had.add(ingress.Get("ip").Str())
	}
	for i := range p.indexes() {
		ip, mode, host := p.item(i).at("ip"), p.item(i).at("ipMode"), p.item(i).at("hostname")
		if ip.Str() != "" {
			r.address(ip, &had)
		}
		switch {
		case !modes || !mode.is() && ip.Str() == "":
		case !mode.is():
			r.required(mode, "must be specified when `ip` is set")
		case ip.Str() == "":
			r.forbidden(mode, "may not be specified when `ip` is not set")
		default:
			r.onlyAmong(mode, "Proxy", "VIP")
		}
		if host.Str() != "" {
			r.invalid(host, validation.IsDNS1123Subdomain(host.Str())...)
			if netutils.ParseIPSloppy(host.Str()) != nil {
				r.invalid(host, "must be a DNS name, not an IP address")
			}
		}
	}
}
