package kinds

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Ingresses, their classes, and network policies.

// validateIngress refuses an Ingress.
//
// Requests that no rule is about go to the default backend, so one of the two must be there.
func validateIngress(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	rules, backend := spec.At("rules"), spec.At("defaultBackend")
	if rules.Len() == 0 && !backend.IsSet() {
		r.InvalidAs(spec, rules.ToAny(), "either `defaultBackend` or `rules` must be specified")
	}
	if backend.IsSet() {
		validateIngressBackend(r, backend)
	}
	for i := range rules.Indexes() {
		rule := rules.Index(i)
		validateIngressHost(r, rule.At("host"))
		if http := rule.At("http"); http.IsSet() {
			validateIngressPaths(r, http.At("paths"))
		}
	}
	tls := spec.At("tls")
	for i := range tls.Indexes() {
		t := tls.Index(i)
		hosts := t.At("hosts")
		for i := range hosts.Indexes() {
			validateHostName(r, hosts.Index(i))
		}
		r.OptionalSubdomain(t.At("secretName"))
	}
	class := spec.At("ingressClassName")
	if class.IsSet() {
		r.Subdomain(class)
	}
	const name = "kubernetes.io/ingress.class"
	if old := object.Get("metadata", "annotations", name); !walk.IsSet(live) && !old.IsAbsent() && class.IsSet() && !old.Equal(class.Value) {
		annotations := object.Below(value.Value{}, "annotations", walk.IsMember) // where kube-apiserver says that they are
		r.Invalid(annotations.Below(old, name, walk.IsMember), "must match `ingressClassName` when both are specified")
	}
}

// validateIngressHost refuses a host that is no name.
func validateIngressHost(r *walk.Report, p walk.Place) {
	if p.Str() == "" {
		return
	}
	if netutils.ParseIPSloppy(p.Str()) != nil {
		r.Invalid(p, "must be a DNS name, not an IP address")
	}
	validateHostName(r, p)
}

// validateHostName refuses what is no name of a host, nor of all hosts below one.
//
// "*.example.org" stands for all hosts one level below.
func validateHostName(r *walk.Report, p walk.Place) {
	if strings.Contains(p.Str(), "*") {
		r.Invalid(p, validation.IsWildcardDNS1123Subdomain(p.Str())...)
		return
	}
	r.Subdomain(p)
}

// validateIngressPaths refuses where requests are sent.
//
// The type says how paths are compared. Paths of an unknown implementation need only begin with a slash.
func validateIngressPaths(r *walk.Report, p walk.Place) {
	if p.Len() == 0 {
		r.Required(p, "")
	}
	for i := range p.Indexes() {
		path := p.Index(i)
		typ, at := path.At("pathType"), path.At("path")
		if !typ.IsSet() {
			r.Required(typ, "pathType must be specified")
			continue
		}
		switch typ.Str() {
		case "Exact", "Prefix":
			validatePlainPath(r, at)
		case "ImplementationSpecific":
			if at.Str() != "" && !strings.HasPrefix(at.Str(), "/") {
				r.Invalid(at, "must be an absolute path")
			}
		default:
			r.OnlyAmong(typ, "Exact", "ImplementationSpecific", "Prefix")
		}
		validateIngressBackend(r, path.At("backend"))
	}
}

// validatePlainPath refuses a path that is not what it looks like.
//
// Servers on the way may change such a path, and then it would not match.
func validatePlainPath(r *walk.Report, p walk.Place) {
	text := p.Str()
	if !strings.HasPrefix(text, "/") {
		r.InvalidAs(p, text, "must be an absolute path")
	}
	for _, part := range [...]string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(text, part) {
			r.Invalid(p, "must not contain '"+part+"'")
		}
	}
	for _, end := range [...]string{"/..", "/."} {
		if strings.HasSuffix(text, end) {
			r.Invalid(p, "cannot end with '"+end+"'")
		}
	}
}

// validateIngressBackend refuses where requests go that is nothing, or two things.
//
// A backend is either a service with a port, by name or number, or another object.
func validateIngressBackend(r *walk.Report, p walk.Place) {
	service, resource := p.At("service"), p.At("resource")
	switch {
	case service.IsSet() && resource.IsSet():
		r.InvalidAs(p, "", "cannot set both resource and service backends")
		return
	case resource.IsSet():
		if group := resource.At("apiGroup"); group.IsSet() {
			r.InvalidAs(group, group.Str(), validation.IsDNS1123Subdomain(group.Str())...)
		}
		for _, name := range [...]string{"kind", "name"} {
			if p := resource.At(name); r.Present(p) {
				r.Invalid(p, content.IsPathSegmentName(p.Str())...)
			}
		}
		return
	case !service.IsSet():
		r.InvalidAs(p, "", "resource or service backend is required")
		return
	}
	if name := service.At("name"); r.Present(name) {
		if r.Before(relaxedNames) {
			r.Invalid(name, validation.IsDNS1035Label(name.Str())...)
		} else {
			r.Label(name)
		}
	}
	port := service.At("port")
	name, number := port.At("name"), port.At("number")
	switch {
	case name.Str() != "" && number.Int() != 0:
		r.InvalidAs(p, "", "cannot set both port name & port number")
	case name.Str() != "":
		r.Invalid(name, validation.IsValidPortName(name.Str())...)
	case number.Int() != 0:
		r.Port(number)
	default:
		r.Required(p, "port name or number is required")
	}
}

// validateNetworkPolicy refuses a NetworkPolicy.
//
// Both directions have the same rules under other names.
func validateNetworkPolicy(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	r.Selector(spec.At("podSelector"))
	for _, way := range [...][2]string{{"ingress", "from"}, {"egress", "to"}} {
		rules := spec.At(way[0])
		for i := range rules.Indexes() {
			rule := rules.Index(i)
			ports, peers := rule.At("ports"), rule.At(way[1])
			for i := range ports.Indexes() {
				validatePolicyPort(r, ports.Index(i))
			}
			for i := range peers.Indexes() {
				validatePeer(r, peers.Index(i))
			}
		}
	}
	types := spec.At("policyTypes")
	if types.Len() > 2 {
		r.Invalid(types, "may not specify more than two policyTypes")
		return
	}
	for i := range types.Indexes() {
		r.OnlyAmong(types.Index(i), "Ingress", "Egress")
	}
}

// validatePolicyPort refuses a port of a policy.
//
// A range of ports needs numbers at both ends.
func validatePolicyPort(r *walk.Report, p walk.Place) {
	if protocol := p.At("protocol"); protocol.IsSet() {
		r.OnlyAmong(protocol, "TCP", "UDP", "SCTP")
	}
	port, end := p.At("port"), p.At("endPort")
	switch {
	case !port.IsSet():
		if end.IsSet() {
			r.Invalid(end, "may not be specified when `port` is not specified")
		}
		return
	case port.Kind() == value.KindString && end.IsSet():
		r.Invalid(end, "may not be specified when `port` is non-numeric")
	}
	r.PortOrName(port)
	if port.Kind() != value.KindString && end.IsSet() {
		if end.Int() < port.Int() {
			r.Invalid(end, "must be greater than or equal to `port`")
		}
		r.Port(end)
	}
}

// validatePeer refuses who is at the other end.
//
// A block of addresses stands alone. Selectors of pods and namespaces may be combined.
func validatePeer(r *walk.Report, p walk.Place) {
	pods, namespaces, block := p.At("podSelector"), p.At("namespaceSelector"), p.At("ipBlock")
	r.Selector(pods)
	r.Selector(namespaces)
	if block.IsSet() {
		validateIpBlock(r, block)
	}
	switch {
	case !pods.IsSet() && !namespaces.IsSet() && !block.IsSet():
		r.Required(p, "must specify a peer")
	case block.IsSet() && (pods.IsSet() || namespaces.IsSet()):
		r.Forbidden(p, "may not specify both ipBlock and another peer")
	}
}

// validateIpBlock refuses a range of addresses.
//
// An exception must lie within the block, and be smaller.
func validateIpBlock(r *walk.Report, p walk.Place) {
	cidr := p.At("cidr")
	if cidr.Str() == "" {
		r.RequiredLater(cidr, "")
		return
	}
	r.Network(cidr, cidr.Str())
	_, whole, err := netutils.ParseCIDRSloppy(cidr.Str())
	if err != nil {
		return
	}
	excepted := p.At("except")
	for i := range excepted.Indexes() {
		e := excepted.Index(i)
		r.Network(e, e.Str())
		_, part, err := netutils.ParseCIDRSloppy(e.Str())
		if err != nil {
			continue
		}
		size, _ := whole.Mask.Size()
		partSize, _ := part.Mask.Size()
		if !whole.Contains(part.IP) || size >= partSize {
			r.Invalid(e, "must be a strict subset of `cidr`")
		}
	}
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
	return cmp.Or(strings.Join(out, ","), "*")
}

// ingressPorts shows the ports of an Ingress: with TLS, 443 as well.
func ingressPorts(s source) string {
	if s.Get("spec", "tls").Len() > 0 {
		return "80, 443"
	}
	return "80"
}

// ingressClassName shows the name of a class, and whether it is the default.
func ingressClassName(s source) string {
	name := s.Get("metadata", "name").Str()
	if s.Get("metadata", "annotations", "ingressclass.kubernetes.io/is-default-class").Str() == "true" {
		name += " (default)"
	}
	return name
}

// ingressParameters shows the object that has the parameters of a class.
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

// validateGenerated refuses a prefix of generated names that no DNS subdomain begins with.
func validateGenerated(r *walk.Report, object walk.Place) {
	metadata := object.At("metadata")
	if prefix := metadata.At("generateName"); prefix.Str() != "" {
		r.InvalidAs(prefix, prefix.Str(), apivalidation.NameIsDNSSubdomain(prefix.Str(), true)...)
	}
}

// validateIngressClass validates an IngressClass. An update validates its prefix of generated names after immutable fields.
func validateIngressClass(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	controller, parameters := spec.At("controller"), spec.At("parameters")
	if was := live.Get("spec", "controller").Str(); walk.IsSet(live) && controller.Str() != was {
		r.InvalidAs(controller, controller.Str(), "field is immutable")
	}
	if walk.IsSet(live) {
		validateGenerated(r, object)
	}
	if len(controller.Str()) > 250 {
		r.Add(field.TooLong(controller.Path(), "", 250))
	}
	r.Errs = append(r.Errs, validation.IsDomainPrefixedPath(controller.Path(), controller.Str())...)
	if parameters.IsSet() {
		validateClassParameters(r, parameters)
	}
}

// validateClassParameters validates a reference to the parameters of an IngressClass.
//
// Parameters in a namespace must name it, and those of the cluster must not.
func validateClassParameters(r *walk.Report, p walk.Place) {
	scope, namespace := p.At("scope"), p.At("namespace")
	if group := p.At("apiGroup"); group.IsSet() {
		r.Subdomain(group)
	}
	for _, name := range [...]string{"kind", "name"} {
		if text := p.At(name); text.Str() == "" {
			r.RequiredLater(text, "")
		} else {
			r.Invalid(text, content.IsPathSegmentName(text.Str())...)
		}
	}
	switch {
	case !scope.IsSet():
		r.Required(scope, "")
	case scope.Str() == "Namespace":
		if !namespace.IsSet() {
			r.Required(namespace, "`parameters.scope` is set to 'Namespace'")
		} else {
			r.Label(namespace)
		}
	case scope.Str() == "Cluster":
		if namespace.IsSet() {
			r.Forbidden(namespace, "`parameters.scope` is set to 'Cluster'")
		}
	case r.Before(walk.TaggedSince):
		r.NotOneOf(scope, "Cluster", "Namespace")
	default:
		r.TextAmong(scope, "Cluster", "Namespace")
	}
}

func ingressCells() []cell {
	return []cell{
		name, textOr(none, "spec", "ingressClassName"), shown(hosts), shown(loadBalancer), shown(ingressPorts), age,
	}
}

// validateServiceCIDR validates a ServiceCIDR. A block of a second family may be added, and nothing else may change.
func validateServiceCIDR(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	blocks, was := spec.At("cidrs"), live.Get("spec", "cidrs")
	switch {
	case !walk.IsSet(live):
		validateBlocks(r, blocks)
	case blocks.Len() == was.Len():
		for i := range blocks.Indexes() {
			r.Unchanged(blocks.Index(i), was.Item(i))
		}
	case was.Len() == 1 && blocks.Len() == 2:
		r.Unchanged(blocks.Index(0), was.Item(0))
		validateBlocks(r, blocks)
	default:
		r.Invalid(blocks, "field is immutable")
	}
}

// validateBlocks validates the blocks of addresses that Services get: at most one for each family.
func validateBlocks(r *walk.Report, p walk.Place) {
	switch {
	case p.Len() == 0:
		r.Required(p, "at least one CIDR required")
		return
	case p.Len() > 2:
		r.InvalidAs(p, struct{ CIDRs any }{p.ToAny()}, "may only hold up to 2 values")
		return
	}
	families := map[netutils.IPFamily]int{}
	for i := range p.Indexes() {
		block := p.Index(i)
		r.Errs = append(r.Errs, validation.IsValidCIDR(block.Path(), block.Str())...)
		families[netutils.IPFamilyOfCIDRString(block.Str())]++
	}
	if families[netutils.IPv4] > 1 || families[netutils.IPv6] > 1 {
		r.Invalid(p, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	}
}
