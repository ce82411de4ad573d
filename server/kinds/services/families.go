package services

import (
	"slices"

	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Families are the families of addresses that services of a cluster get, IPv4 or IPv6 or both. The first one is the default.
type Families []string

// IPv4Only are the families of a cluster that is not told otherwise.
var IPv4Only = Families{"IPv4"}

// ValidateAddresses refuses addresses of a Service, and families of addresses. kube-apiserver does so when it allocates them, before it
// validates the service and its metadata.
func (c Families) ValidateAddresses(r *walk.Report, object walk.Place, live value.Value) {
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

// validateFamiliesOf refuses more addresses or families than the policy of a service has, and addresses of families that the cluster does not have.
func validateFamiliesOf(r *walk.Report, spec walk.Place, live value.Value, has Families) {
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
func validateKnownFamilies(r *walk.Report, spec walk.Place, has Families) {
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

// validateFamilies refuses addresses of a service that is no external name, and which there may be.
//
// clusterIP is the first of clusterIPs: older clients know only the former. [Families.Complete] lists it, but not in a service that a write of
// its status creates.
func validateFamilies(r *walk.Report, spec walk.Place, live value.Value) {
	switch ip, ips := spec.Text("clusterIP"), spec.At("clusterIPs"); {
	case ip != "" && ips.Len() == 0:
		r.Required(ips, "")
	case ip == "" && ips.Len() > 0:
		r.Invalid(ips, "must be empty when `clusterIP` is not specified")
	case ips.Len() > 0 && ips.Item(0).Str() != ip:
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
	validateClusterIPs(r, spec.At("clusterIPs"), live.Get("clusterIPs"), families.Value)
}

// Complete adds the fields to the spec of a service that follow from its addresses and from the families of the cluster. The service is new, or
// replaces live. The kind itself has kept the addresses and ports of live that the service omits. Nothing is allocated.
//
//	listed   clusterIPs begins with clusterIP
//	policy   one family, except for a headless service without a selector, which may have both
//	families those of the addresses, else the default one, followed by the other one where two are wanted
func (c Families) Complete(service, live, _ value.Value) value.Value {
	spec, was := service.Get("spec"), live.Get("spec")
	if spec.Kind() != value.KindObject {
		return service
	}
	elsewhere := spec.Get("type").Str() == "ExternalName"
	ip, ips := spec.Get("clusterIP"), spec.Get("clusterIPs")
	had := was.Get("clusterIPs")
	isUnlisted := ips.Len() == 0 && !(elsewhere && walk.IsSet(was)) // which kube-apiserver lists in answers only
	if ip.Str() != "" && (isUnlisted || ips.Equal(had) && !ip.Equal(was.Get("clusterIP"))) {
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
	// ValidateAddresses refuses two families that the cluster does not have, and none that the service gives up.
	if families.Len() == 0 && len(c) < 2 && !free && spec.Get("ipFamilyPolicy").Str() == "RequireDualStack" {
		return service.With("spec", spec)
	}
	isReduced := !isSingle && families.Len() > 0 && families.Len() < was.Get("ipFamilies").Len()
	families, isKnown := c.inferred(families, spec.Get("clusterIPs"), isSingle || isReduced)
	if !isKnown || isReduced { // which ValidateAddresses refuses
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
func (c Families) inferred(families, ips value.Value, isSingle bool) (out value.Value, isKnown bool) {
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

// HasHealthPort reports whether a service has a port for health checks of its nodes.
func HasHealthPort(spec value.Value) bool {
	return spec.Get("type").Str() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Str() == "Local"
}
