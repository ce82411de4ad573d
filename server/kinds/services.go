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

	"github.com/deed-project/deed/server/kinds/walk"
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
func validateService(r *walk.Report, object walk.Place, live value.Value) {
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
func (c clusterFamilies) validateAddresses(r *walk.Report, object walk.Place, live value.Value) {
	spec, was := object.At("spec"), live.Get("spec")
	if spec.Text("type") == "ExternalName" || staysPreferred(spec.Value, was) {
		return
	}
	if validateFamilies(r, spec, was); len(r.Errs) > 0 {
		return
	}
	if validateFamiliesOf(r, spec, was, c); len(r.Errs) > 0 {
		return
	}
	if free := spec.Text("clusterIP") == "None" && spec.Get("selector").Len() == 0; !free {
		validateKnownFamilies(r, spec, c)
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
		r.Invalid(class, onceSet)
	}
	validateBalancerClass(r, spec)
	const health = "healthCheckNodePort"
	if hasHealthPort(spec.Value) && hasHealthPort(live) && spec.Get(health).Int() != live.Get(health).Int() {
		r.Forbidden(spec.At(health), "field is immutable")
	}
}

// validateFamiliesOf refuses more addresses or families than the policy of a service has, and addresses of families that the cluster does not have.
func validateFamiliesOf(r *walk.Report, spec walk.Place, live value.Value, has clusterFamilies) {
	policy, ips, families := spec.At("ipFamilyPolicy"), spec.At("clusterIPs"), spec.Get("ipFamilies")
	if walk.IsSet(live) && policy.Str() != "SingleStack" {
		const detail = "must be 'SingleStack' to release the secondary "
		if n := ips.Len(); n > 0 && n < live.Get("clusterIPs").Len() {
			r.Invalid(policy, detail+"cluster IP")
		}
		if n := families.Len(); n > 0 && n < live.Get("ipFamilies").Len() {
			r.Invalid(policy, detail+"IP family")
		}
	}
	if policy.Str() == "SingleStack" {
		const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
		if ips.Len() == 2 && !ips.Equal(live.Get("clusterIPs")) {
			r.Invalid(policy, detail+"cluster IPs are specified")
		}
		if families.Len() == 2 && !families.Equal(live.Get("ipFamilies")) {
			r.Invalid(policy, detail+"IP families are specified")
		}
	}
	for i := families.Len(); i < ips.Len(); i++ {
		if ip := ips.Index(i); ip.Str() != "None" && !slices.Contains(has, familyOf(ip.Str())) {
			r.InvalidAs(ip, ips.ToAny(), familyOf(ip.Str())+" is not configured on this cluster")
		}
	}
}

// validateKnownFamilies refuses families of addresses that the cluster does not have.
func validateKnownFamilies(r *walk.Report, spec walk.Place, has clusterFamilies) {
	if policy := spec.At("ipFamilyPolicy"); policy.Str() == "RequireDualStack" && len(has) < 2 {
		r.Invalid(policy, "this cluster is not configured for dual-stack services")
	}
	families := spec.At("ipFamilies")
	for i := range families.Indexes() {
		if f := families.Index(i); !slices.Contains(has, f.Str()) {
			r.Invalid(f, "not configured on this cluster")
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

// validateFamilies refuses addresses of a service, and which there may be.
//
// clusterIP is the first of clusterIPs: older clients know only the former.
func validateFamilies(r *walk.Report, spec walk.Place, live value.Value) {
	ip, ips := spec.Text("clusterIP"), spec.At("clusterIPs")
	if ip == "" && ips.Len() > 0 {
		r.Invalid(ips, "must be empty when `clusterIP` is not specified")
	} else if ips.Len() > 0 && ips.Item(0).Str() != ip {
		r.Invalid(ips, "first value must match `clusterIP`")
	}
	families := spec.At("ipFamilies")
	var met walk.Names
	for i := range families.Indexes() {
		f := families.Index(i)
		r.OnlyAmong(f, "IPv4", "IPv6")
		if !met.Add(f.Str()) {
			r.Duplicate(f)
		}
	}
	if policy := spec.At("ipFamilyPolicy"); policy.IsSet() {
		r.OnlyAmong(policy, "PreferDualStack", "RequireDualStack", "SingleStack")
	}
	validateClusterIPs(r, ips, live.Get("clusterIPs"), families.Value)
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
		r.Errs = append(r.Errs, validation.IsValidCIDRForLegacyField(one.Path(), strings.TrimSpace(one.Str()), true, had)...)
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
				r.Errs = append(r.Errs, validation.IsValidCIDRForLegacyField(old.Path(), strings.TrimSpace(one), true, nil)...)
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

// distributions are which endpoints are preferred.
var distributions = []string{"PreferClose", "PreferSameZone", "PreferSameNode"}

// validateEndpointSlice refuses an EndpointSlice.
//
// Endpoints that do not change are not validated again: they may have been stored under other rules. The type of addresses never changes.
func validateEndpointSlice(r *walk.Report, object walk.Place, live value.Value) {
	ports, endpoints, typ := object.At("ports"), object.At("endpoints"), object.At("addressType")
	var met walk.Names
	for i := range ports.Indexes() {
		validateSlicePort(r, ports.Index(i), &met)
	}
	switch typ.Str() {
	case "":
		r.RequiredLater(typ, "")
	case "FQDN", "IPv4", "IPv6":
	default:
		r.Later(field.NotSupported(typ.Path(), walk.Enumeration(typ.Str()), []string{"FQDN", "IPv4", "IPv6"}))
	}
	if walk.IsSet(live) {
		r.UnchangedLater(typ, live.Get("addressType"))
	}
	if !walk.IsSet(live) || !r.Same(endpoints, live.Get("endpoints")) {
		for i := range endpoints.Indexes() {
			validateEndpoint(r, endpoints.Index(i), typ.Str())
		}
	}
}

// validateSlicePort refuses a port, given the names of those before it.
func validateSlicePort(r *walk.Report, p walk.Place, met *walk.Names) {
	name := p.At("name")
	if name.Str() != "" {
		r.Label(name)
	}
	if !met.Add(name.Str()) {
		r.Add(field.Duplicate(name.Path(), name.Str()))
	}
	if protocol := p.At("protocol"); !protocol.IsSet() {
		r.Required(protocol, "")
	} else {
		r.OnlyAmong(protocol, "SCTP", "TCP", "UDP")
	}
	if protocol := p.At("appProtocol"); protocol.IsSet() {
		r.Invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// validateEndpoint refuses what is at addresses of a type.
func validateEndpoint(r *walk.Report, p walk.Place, typ string) {
	addresses := p.At("addresses")
	if addresses.Len() == 0 {
		r.RequiredLater(addresses, r.Worded("must contain at least 1 address", ""))
	}
	if addresses.Len() > mostAddressesOfEndpoint {
		r.Last = append(r.Last, field.TooMany(addresses.Path(), addresses.Len(), mostAddressesOfEndpoint))
	}
	for i := range addresses.Indexes() {
		validateEndpointOf(r, addresses.Index(i), addresses, typ)
	}
	if node := p.At("nodeName"); node.IsSet() {
		r.Subdomain(node)
	}
	if host := p.At("hostname"); host.IsSet() {
		r.Label(host)
	}
	validateHints(r, p.At("hints"))
}

// mostAddressesOfEndpoint is how many addresses an endpoint may have.
const mostAddressesOfEndpoint = 100

// validateEndpointOf refuses an address that is not of a type. The type is validated elsewhere: addresses of an unknown one are not.
func validateEndpointOf(r *walk.Report, a, addresses walk.Place, typ string) {
	before := len(r.Errs)
	switch typ {
	case "FQDN":
		r.Errs = append(r.Errs, validation.IsFullyQualifiedDomainName(a.Path(), a.Str())...)
		return
	case "IPv4":
		r.Address(a, nil)
	case "IPv6":
		r.Errs = append(r.Errs, validation.IsValidIP(a.Path(), a.Str())...)
	default:
		return
	}
	if len(r.Errs) > before {
		return
	}
	if netutils.IsIPv6String(a.Str()) != (typ == "IPv6") {
		r.InvalidAs(addresses, a.Str(), "must be an "+typ+" address")
	}
	if ip := netutils.ParseIPSloppy(a.Str()); !ip.IsLoopback() { // which leads to webhooks of tests, where the server looks for those of services
		validateReachableIP(r, a)
	}
}

// mostHints is how many zones, and how many nodes, may be meant to use an endpoint.
const mostHints = 8

// validateHints refuses which zones and nodes should use an endpoint. Too many of them end the check.
func validateHints(r *walk.Report, p walk.Place) {
	for _, name := range [...]string{"forZones", "forNodes"} {
		list := p.At(name)
		if list.Len() > mostHints {
			r.Add(field.TooMany(list.Path(), list.Len(), mostHints))
			return
		}
		var met walk.Names
		for i := range list.Indexes() {
			of := list.Index(i).At("name")
			if !met.Add(of.Str()) {
				r.Add(field.Duplicate(of.Path(), of.Str()))
			}
			if name == "forZones" {
				r.InvalidAs(of, of.Str(), validation.IsValidLabelValue(of.Str())...)
			} else {
				r.InvalidAs(of, of.Str(), validation.IsDNS1123Subdomain(of.Str())...)
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
	if !walk.IsSet(spec.Get("ipFamilyPolicy")) {
		spec = spec.With("ipFamilyPolicy", policyOf(was.Get("ipFamilyPolicy"), free))
	}
	families, isSingle := spec.Get("ipFamilies"), spec.Get("ipFamilyPolicy").Str() == "SingleStack"
	if isSingle && walk.IsSet(was) { // one of two goes
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
func validateEndpoints(r *walk.Report, object walk.Place, _ value.Value) {
	subsets := object.At("subsets")
	for i := range subsets.Indexes() {
		s := subsets.Index(i)
		if s.Get("addresses").Len() == 0 && s.Get("notReadyAddresses").Len() == 0 {
			r.Required(s, "must specify `addresses` or `notReadyAddresses`")
		}
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			addresses := s.At(list)
			for i := range addresses.Indexes() {
				validateEndpointAddress(r, addresses.Index(i))
			}
		}
		ports := s.At("ports")
		for i := range ports.Indexes() {
			validateEndpointPort(r, ports.Index(i), ports.Len() > 1)
		}
	}
}

// validateEndpointAddress refuses an address of endpoints, with its name and node.
func validateEndpointAddress(r *walk.Report, p walk.Place) {
	ip := p.At("ip")
	r.Address(ip, nil)
	if host := p.At("hostname"); host.Str() != "" {
		r.Label(host)
	}
	if node := p.At("nodeName"); node.IsSet() {
		r.InvalidAs(node, node.Str(), validation.IsDNS1123Subdomain(node.Str())...)
	}
	validateReachableIP(r, ip)
}

// validateEndpointPort refuses a port of endpoints, which must be named beside others.
func validateEndpointPort(r *walk.Report, p walk.Place, named bool) {
	if name := p.At("name"); name.Str() != "" {
		r.Label(name)
	} else if named {
		r.Required(name, "")
	}
	r.Port(p.At("port"))
	r.Among(p.At("protocol"), "SCTP", "TCP", "UDP")
	if protocol := p.At("appProtocol"); protocol.IsSet() {
		r.Invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
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
		when: func(service value.Value) bool { return hasHealthPort(service.Get("spec")) },
	},
}

// needsNodePorts reports whether a service gets node ports by default.
func needsNodePorts(service value.Value) bool {
	spec := service.Get("spec")
	allocate := spec.Get("allocateLoadBalancerNodePorts")
	typ := spec.Get("type").Str()
	return typ == "NodePort" || typ == "LoadBalancer" && (!walk.IsSet(allocate) || allocate.Bool())
}

// validateIngressStatus validates the status of an Ingress.
func validateIngressStatus(r *walk.Report, object walk.Place, live value.Value) {
	validateBalancer(r, object.At("status").At("loadBalancer").At("ingress"), live, false)
}

// validateServiceStatus validates the status of a Service, which has addresses only behind a load balancer.
func validateServiceStatus(r *walk.Report, object walk.Place, live value.Value) {
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
