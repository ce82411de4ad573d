package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// budget refuses a PodDisruptionBudget.
func budget(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	least, most := spec.at("minAvailable"), spec.at("maxUnavailable")
	for _, p := range [...]place{least, most} {
		if p.is() {
			r.share(p)
			r.notAll(p)
		}
	}
	r.selector(spec.at("selector"))
	if policy := spec.at("unhealthyPodEvictionPolicy"); policy.is() {
		r.onlyAmong(policy, "AlwaysAllow", "IfHealthyBudget")
	}
}

// limitTypes are what the limits of a namespace without a domain are about.
var limitTypes = map[string]bool{"Pod": true, "Container": true, "PersistentVolumeClaim": true}

// limitRange refuses a LimitRange.
func limitRange(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	limits := spec.at("limits")
	var met names
	for i := range limits.indexes() {
		limit := limits.item(i)
		typ := limit.at("type")
		name := typ.Str()
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			r.invalidAs(typ, Enumeration(name), wrong...)
		} else if !strings.Contains(name, "/") && !limitTypes[name] {
			r.invalidAs(typ, Enumeration(name), "must be a standard limit type or fully qualified")
		}
		if !met.add(name) {
			r.duplicate(typ)
		}
		for _, member := range [...]string{"default", "defaultRequest"} {
			if p := limit.at(member); name == "Pod" && p.Len() > 0 {
				r.forbidden(p, "may not be specified when `type` is 'Pod'")
			}
		}
	}
}

// whole are the resources that are counted.
var whole = map[string]bool{
	"pods": true, "resourcequotas": true, "services": true, "replicationcontrollers": true, "secrets": true, "configmaps": true,
	"persistentvolumeclaims": true, "services.nodeports": true, "services.loadbalancers": true,
}

// quota refuses amounts of a ResourceQuota.
func quota(r *report, object place, live value.Value) {
	spec := object.at("spec")
	hard := spec.at("hard")
	for i := range hard.indexes() {
		limit := hard.entry(i)
		r.quotaName(limit)
		if strings.HasPrefix(limit.Str(), "-") {
			r.invalidAs(limit, limit.Str(), "must be greater than or equal to 0")
		}
		if q := quantity(limit.Value); whole[limit.name()] && q.MilliValue()%1000 != 0 {
			r.invalidAs(limit, limit.Str(), "must be an integer")
		}
	}
	if isSet(live) {
		r.unchanged(spec.at("scopes"), live.Get("spec", "scopes"))
	}
}

// counted are the resources that quotas of a namespace limit, beside those that are whole and huge pages.
var counted = map[string]bool{
	"cpu": true, "memory": true, "ephemeral-storage": true,
	"requests.cpu": true, "requests.memory": true, "requests.ephemeral-storage": true, "requests.storage": true,
	"limits.cpu": true, "limits.memory": true, "limits.ephemeral-storage": true,
}

// quotaName refuses the name of a resource that a quota limits.
func (r *report) quotaName(limit place) {
	name := limit.name()
	wrong := validation.IsQualifiedName(name)
	r.invalidAs(limit, name, wrong...)
	huge := strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	if strings.Contains(name, "/") || huge || counted[name] || whole[name] {
		return
	}
	if len(wrong) == 0 && name != "storage" { // which is one, and has no quota
		r.invalidAs(limit, name, "must be a standard resource type or fully qualified")
	}
	r.invalidAs(limit, name, "must be a standard resource for quota")
}

// endpoints refuses Endpoints.
func endpoints(r *report, object place, _ value.Value) {
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

func (r *report) endpointAddress(p place) {
	ip := p.at("ip")
	r.reachable(ip, nil)
	if netutils.ParseIPSloppy(ip.Str()) == nil { // which is told twice
		r.invalidAs(ip, ip.Str(), "must be a valid IP address")
	}
	if host := p.at("hostname"); host.Str() != "" {
		r.label(host)
	}
	r.optionalSubdomain(p.at("nodeName"))
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

// EventElsewhere refuses an Event of either group that is in another namespace than the object that it is about. Events about objects of the
// cluster are in default, and those of the newer form in kube-system as well.
func EventElsewhere(event value.Value) field.ErrorList {
	about := event.Get("involvedObject")
	if about.IsAbsent() {
		about = event.Get("regarding")
	}
	in, of := event.Get("metadata", "namespace").Str(), about.Get("namespace").Str()
	newer := event.Get("eventTime").Kind() == value.KindString
	switch {
	case of == "" && (in == "" || in == "default" || newer && in == "kube-system"), of != "" && (newer || of == in):
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), of, "does not match event.namespace")}
}
