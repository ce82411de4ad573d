package kinds

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// Ingresses, their classes, and network policies.

// validateIngress refuses an Ingress.
//
// Requests that no rule is about go to the default backend, so one of the two must be there.
func validateIngress(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	rules, backend := spec.at("rules"), spec.at("defaultBackend")
	if rules.Len() == 0 && !backend.is() {
		r.invalidAs(spec, rules.ToAny(), "either `defaultBackend` or `rules` must be specified")
	}
	if backend.is() {
		r.ingressBackend(backend)
	}
	for i := range rules.indexes() {
		rule := rules.item(i)
		r.ingressHost(rule.at("host"))
		if http := rule.at("http"); http.is() {
			r.ingressPaths(http.at("paths"))
		}
	}
	tls := spec.at("tls")
	for i := range tls.indexes() {
		t := tls.item(i)
		hosts := t.at("hosts")
		for i := range hosts.indexes() {
			r.hostName(hosts.item(i))
		}
		r.optionalSubdomain(t.at("secretName"))
	}
	if class := spec.at("ingressClassName"); class.is() {
		r.subdomain(class)
	}
}

// ingressHost refuses a host that is no name.
func (r *report) ingressHost(p place) {
	if p.Str() == "" {
		return
	}
	if netutils.ParseIPSloppy(p.Str()) != nil {
		r.invalid(p, "must be a DNS name, not an IP address")
	}
	r.hostName(p)
}

// hostName refuses what is no name of a host, nor of all hosts below one.
//
// "*.example.org" stands for all hosts one level below.
func (r *report) hostName(p place) {
	if strings.Contains(p.Str(), "*") {
		r.invalid(p, validation.IsWildcardDNS1123Subdomain(p.Str())...)
		return
	}
	r.subdomain(p)
}

// ingressPaths refuses where requests are sent.
//
// The type says how paths are compared. Paths of an unknown implementation need only begin with a slash.
func (r *report) ingressPaths(p place) {
	if p.Len() == 0 {
		r.required(p, "")
	}
	for i := range p.indexes() {
		path := p.item(i)
		typ, at := path.at("pathType"), path.at("path")
		if !typ.is() {
			r.required(typ, "pathType must be specified")
			continue
		}
		switch typ.Str() {
		case "Exact", "Prefix":
			r.plainPath(at)
		case "ImplementationSpecific":
			if at.Str() != "" && !strings.HasPrefix(at.Str(), "/") {
				r.invalid(at, "must be an absolute path")
			}
		default:
			r.onlyAmong(typ, "Exact", "ImplementationSpecific", "Prefix")
		}
		r.ingressBackend(path.at("backend"))
	}
}

// plainPath refuses a path that is not what it looks like.
//
// Servers on the way may change such a path, and then it would not match.
func (r *report) plainPath(p place) {
	text := p.Str()
	if !strings.HasPrefix(text, "/") {
		r.invalidAs(p, text, "must be an absolute path")
	}
	for _, part := range [...]string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(text, part) {
			r.invalid(p, "must not contain '"+part+"'")
		}
	}
	for _, end := range [...]string{"/..", "/."} {
		if strings.HasSuffix(text, end) {
			r.invalid(p, "cannot end with '"+end+"'")
		}
	}
}

// ingressBackend refuses where requests go that is nothing, or two things.
//
// A backend is either a service with a port, by name or number, or another object.
func (r *report) ingressBackend(p place) {
	service, resource := p.at("service"), p.at("resource")
	switch {
	case service.is() && resource.is():
		r.invalidAs(p, "", "cannot set both resource and service backends")
		return
	case resource.is():
		if group := resource.at("apiGroup"); group.is() {
			r.invalidAs(group, group.Str(), validation.IsDNS1123Subdomain(group.Str())...)
		}
		for _, name := range [...]string{"kind", "name"} {
			if p := resource.at(name); r.present(p) {
				r.invalid(p, content.IsPathSegmentName(p.Str())...)
			}
		}
		return
	case !service.is():
		r.invalidAs(p, "", "resource or service backend is required")
		return
	}
	if name := service.at("name"); r.present(name) {
		if r.before(relaxedNames) {
			r.invalid(name, validation.IsDNS1035Label(name.Str())...)
		} else {
			r.label(name)
		}
	}
	port := service.at("port")
	name, number := port.at("name"), port.at("number")
	switch {
	case name.Str() != "" && number.Int() != 0:
		r.invalidAs(p, "", "cannot set both port name & port number")
	case name.Str() != "":
		r.invalid(name, validation.IsValidPortName(name.Str())...)
	case number.Int() != 0:
		r.port(number)
	default:
		r.required(p, "port name or number is required")
	}
}

// validateNetworkPolicy refuses a NetworkPolicy.
//
// Both directions have the same rules under other names.
func validateNetworkPolicy(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	r.selector(spec.at("podSelector"))
	for _, way := range [...][2]string{{"ingress", "from"}, {"egress", "to"}} {
		rules := spec.at(way[0])
		for i := range rules.indexes() {
			rule := rules.item(i)
			ports, peers := rule.at("ports"), rule.at(way[1])
			for i := range ports.indexes() {
				r.policyPort(ports.item(i))
			}
			for i := range peers.indexes() {
				r.peer(peers.item(i))
			}
		}
	}
	types := spec.at("policyTypes")
	if types.Len() > 2 {
		r.invalid(types, "may not specify more than two policyTypes")
		return
	}
	for i := range types.indexes() {
		r.onlyAmong(types.item(i), "Ingress", "Egress")
	}
}

// policyPort refuses a port of a policy.
//
// A range of ports needs numbers at both ends.
func (r *report) policyPort(p place) {
	if protocol := p.at("protocol"); protocol.is() {
		r.onlyAmong(protocol, "TCP", "UDP", "SCTP")
	}
	port, end := p.at("port"), p.at("endPort")
	switch {
	case !port.is():
		if end.is() {
			r.invalid(end, "may not be specified when `port` is not specified")
		}
		return
	case port.Kind() == value.KindString && end.is():
		r.invalid(end, "may not be specified when `port` is non-numeric")
	}
	r.portOrName(port)
	if port.Kind() != value.KindString && end.is() {
		if end.Int() < port.Int() {
			r.invalid(end, "must be greater than or equal to `port`")
		}
		r.port(end)
	}
}

// peer refuses who is at the other end.
//
// A block of addresses stands alone. Selectors of pods and namespaces may be combined.
func (r *report) peer(p place) {
	pods, namespaces, block := p.at("podSelector"), p.at("namespaceSelector"), p.at("ipBlock")
	r.selector(pods)
	r.selector(namespaces)
	if block.is() {
		r.ipBlock(block)
	}
	switch {
	case !pods.is() && !namespaces.is() && !block.is():
		r.required(p, "must specify a peer")
	case block.is() && (pods.is() || namespaces.is()):
		r.forbidden(p, "may not specify both ipBlock and another peer")
	}
}

// ipBlock refuses a range of addresses.
//
// An exception must lie within the block, and be smaller.
func (r *report) ipBlock(p place) {
	cidr := p.at("cidr")
	if cidr.Str() == "" {
		r.later(cidr, "")
		return
	}
	r.errs = slices.Concat(r.errs, validation.IsValidCIDRForLegacyField(cidr.path(), cidr.Str(), true, nil))
	_, whole, err := netutils.ParseCIDRSloppy(cidr.Str())
	if err != nil {
		return
	}
	excepted := p.at("except")
	for i := range excepted.indexes() {
		e := excepted.item(i)
		r.errs = slices.Concat(r.errs, validation.IsValidCIDRForLegacyField(e.path(), e.Str(), true, nil))
		_, part, err := netutils.ParseCIDRSloppy(e.Str())
		if err != nil {
			continue
		}
		size, _ := whole.Mask.Size()
		partSize, _ := part.Mask.Size()
		if !whole.Contains(part.IP) || size >= partSize {
			r.invalid(e, "must be a strict subset of `cidr`")
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

// generated refuses a prefix of generated names that no DNS subdomain begins with.
func (r *report) generated(object place) {
	metadata := object.at("metadata")
	if prefix := metadata.at("generateName"); prefix.Str() != "" {
		r.invalidAs(prefix, prefix.Str(), apivalidation.NameIsDNSSubdomain(prefix.Str(), true)...)
	}
}

// validateIngressClass validates an IngressClass. An update validates its prefix of generated names after immutable fields.
func validateIngressClass(r *report, object place, live value.Value) {
	spec := object.at("spec")
	controller, parameters := spec.at("controller"), spec.at("parameters")
	if was := live.Get("spec", "controller").Str(); isSet(live) && controller.Str() != was {
		r.invalidAs(controller, controller.Str(), "field is immutable")
	}
	if isSet(live) {
		r.generated(object)
	}
	if len(controller.Str()) > 250 {
		r.add(field.TooLong(controller.path(), "", 250))
	}
	r.errs = append(r.errs, validation.IsDomainPrefixedPath(controller.path(), controller.Str())...)
	if parameters.is() {
		r.classParameters(parameters)
	}
}

// classParameters validates a reference to the parameters of an IngressClass.
//
// Parameters in a namespace must name it, and those of the cluster must not.
func (r *report) classParameters(p place) {
	scope, namespace := p.at("scope"), p.at("namespace")
	if group := p.at("apiGroup"); group.is() {
		r.subdomain(group)
	}
	for _, name := range [...]string{"kind", "name"} {
		if text := p.at(name); text.Str() == "" {
			r.later(text, "")
		} else {
			r.invalid(text, content.IsPathSegmentName(text.Str())...)
		}
	}
	switch scope.Str() {
	case "Namespace":
		if namespace.Str() == "" {
			r.required(namespace, "`parameters.scope` is set to 'Namespace'")
		} else {
			r.label(namespace)
		}
	case "Cluster":
		if namespace.is() {
			r.forbidden(namespace, "`parameters.scope` is set to 'Cluster'")
		}
	case "":
		r.required(scope, "")
	default:
		r.onlyAmong(scope, "Cluster", "Namespace")
	}
}

func ingressCells() []cell {
	return []cell{
		name, textOr(none, "spec", "ingressClassName"), shown(hosts), shown(loadBalancer), shown(ingressPorts), age,
	}
}

// validateServiceCIDR validates a ServiceCIDR. A block of a second family may be added, and nothing else may change.
func validateServiceCIDR(r *report, object place, live value.Value) {
	spec := object.at("spec")
	blocks, was := spec.at("cidrs"), live.Get("spec", "cidrs")
	switch {
	case !isSet(live):
		r.blocks(blocks)
	case blocks.Len() == was.Len():
		for i := range blocks.indexes() {
			r.unchanged(blocks.item(i), was.Item(i))
		}
	case was.Len() == 1 && blocks.Len() == 2:
		r.unchanged(blocks.item(0), was.Item(0))
		r.blocks(blocks)
	default:
		r.invalid(blocks, "field is immutable")
	}
}

// blocks validates the blocks of addresses that Services get: at most one for each family.
func (r *report) blocks(p place) {
	switch {
	case p.Len() == 0:
		r.required(p, "at least one CIDR required")
		return
	case p.Len() > 2:
		r.invalidAs(p, struct{ CIDRs any }{p.ToAny()}, "may only hold up to 2 values")
		return
	}
	families := map[bool]int{}
	for i := range p.indexes() {
		block := p.item(i)
		r.errs = append(r.errs, validation.IsValidCIDR(block.path(), block.Str())...)
		if prefix, err := netip.ParsePrefix(block.Str()); err == nil {
			families[prefix.Addr().Is4()]++
		}
	}
	if families[true] > 1 || families[false] > 1 {
		r.invalid(p, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	}
}
